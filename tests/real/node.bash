# shellcheck shell=bash disable=SC2034,SC2154 # program and packages come from the script, here is for it
# What the programs that run in node share; sourced by them after setting
#   program   the name of the script's .mjs files
#   packages  NAME@VERSION to install from the npm registry; the first is the one that is looked for
# and with a function models FOLDER that makes the models there.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)

refuse() {
    echo "$1"
    exit 77
}

check() {
    command -v node >/dev/null || refuse "node is not installed (apt-get install nodejs)"
    node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' ||
        refuse "node $(node --version) is too old: ${packages[0]%@*} needs node 20 (install a newer nodejs)"
    case $(uname -m) in
    x86_64 | aarch64) ;;
    *) refuse "${packages[0]%@*} has no prebuilt binary for $(uname -m)" ;;
    esac
    [[ -n ${FRAGBENCH_NODE_MODULES:-} ]] || command -v npm >/dev/null ||
        refuse "npm is not installed (apt-get install npm, or set FRAGBENCH_NODE_MODULES to a folder with ${packages[0]%@*} in it)"
    [[ -z ${FRAGBENCH_NODE_MODULES:-} || -d $FRAGBENCH_NODE_MODULES/${packages[0]%@*} ]] ||
        refuse "${packages[0]%@*} is not installed (npm install ${packages[0]}, in the folder above $FRAGBENCH_NODE_MODULES)"
}

# No install scripts: they would download further binaries from elsewhere, for other processors or graphics
# cards. What is needed is in the packages.
install() { # FOLDER
    local package=${packages[0]%@*}
    [[ -f $1/package.json ]] || echo '{"private": true}' >"$1/package.json"
    if [[ -n ${FRAGBENCH_NODE_MODULES:-} ]]; then
        ln -sfn "$(realpath "$FRAGBENCH_NODE_MODULES")" "$1/node_modules"
    elif [[ $(node -p "require('$1/node_modules/$package/package.json').version" 2>/dev/null) != "${packages[0]##*@}" ]]; then
        npm install --prefix "$1" --ignore-scripts --omit=optional --no-audit --no-fund --save-exact \
            "${packages[@]}" >&2 || {
            echo "$program: cannot install ${packages[*]} from the npm registry" >&2
            exit 1
        }
    fi
}

prepare() { # FOLDER
    check
    mkdir -p "$1"
    install "$(realpath "$1")"
    models "$1"
}

# SCALE of the usual work, at least 1.
amount() { # USUAL
    awk -v usual="$1" -v scale="${FRAGBENCH_REAL_SCALE:-1}" \
        'BEGIN { n = int(usual * scale + 0.5); print (n > 1 ? n : 1) }'
}

usage() {
    echo "usage: $0 check | prepare DIR | run DIR" >&2
    exit 2
}

main() { # check | prepare DIR | run DIR
    case $#,${1:-} in
    1,check) check ;;
    2,prepare) prepare "$2" ;;
    2,run)
        [[ -d $2/node_modules ]] || {
            echo "$program: $2 is not prepared ($0 prepare $2)" >&2
            exit 1
        }
        run "$(realpath "$2")"
        ;;
    *) usage ;;
    esac
}
