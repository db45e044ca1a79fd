# shellcheck shell=bash
# What the programs that run in node share; sourced by them. A program sets packages (NAME@VERSION, of the npm
# registry; the first is the one it loads) and defines models FOLDER, which makes its models there.
# FRAGBENCH_NODE_MODULES names a folder node_modules that has the packages: then nothing is installed.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"

# The first package's name.
package() {
    # shellcheck disable=SC2154 # set by the program
    echo "${packages[0]%@*}"
}

check() {
    need node nodejs || return
    [[ $(node -p 'process.versions.node.split(".")[0] >= 20') == true ]] || {
        echo "node $(node --version) is too old for $(package), which needs 20 (nodejs from a newer distribution)"
        return 77
    }
    [[ $(uname -m) =~ ^(x86_64|aarch64)$ ]] || {
        echo "$(package) has no binary for $(uname -m)"
        return 77
    }
    if [[ -z ${FRAGBENCH_NODE_MODULES:-} ]]; then
        need npm npm
    elif [[ ! -d $FRAGBENCH_NODE_MODULES/$(package) ]]; then
        echo "$(package) is not installed (npm install ${packages[0]}, beside $FRAGBENCH_NODE_MODULES)"
        return 77
    fi
}

# Without the packages' install scripts, which would fetch further binaries from elsewhere, for graphics cards.
# All that is needed is in the packages.
install() { # FOLDER
    local manifest
    manifest=$1/node_modules/$(package)/package.json
    if [[ -n ${FRAGBENCH_NODE_MODULES:-} ]]; then
        ln -sfn "$(realpath "$FRAGBENCH_NODE_MODULES")" "$1/node_modules"
        return
    fi
    [[ ! -f $manifest || $(node -p "require('$manifest').version") != "${packages[0]##*@}" ]] || return 0
    npm install --prefix "$1" --ignore-scripts --omit=optional --no-audit --no-fund --save-exact \
        "${packages[@]}" >&2 || {
        echo "cannot install ${packages[*]}: is the npm registry reached?" >&2
        return 1
    }
}

prepare() { # FOLDER
    check
    local folder
    mkdir -p "$1"
    folder=$(realpath "$1")
    [[ -f $folder/package.json ]] || echo '{"private": true}' >"$folder/package.json"
    install "$folder"
    models "$folder"
}

# Becomes node, with one of this folder's programs.
start() { # FOLDER FILE ARGUMENT...
    [[ -d $1/node_modules ]] || {
        echo "$1 is not prepared: $(basename "$0") prepare $1" >&2
        return 1
    }
    exec node "$here/$2" "$(realpath "$1")" "${@:3}"
}
