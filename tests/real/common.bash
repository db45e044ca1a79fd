# shellcheck shell=bash
# What the programs of this folder share; sourced by each. A program defines check (prints why not, returns
# 77), run, prepare where it needs one, all with the folder DIR for its files, and record_options where its
# recording needs some; a service also serve and load. main calls one of them.
set -euo pipefail

# shellcheck disable=SC2034 # used by the programs
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
scale=${FRAGBENCH_REAL_SCALE:-1}
python=/usr/bin/python3

# times COUNT: so many, scaled, at least 1.
times() {
    awk -v n="$1" -v s="$scale" 'BEGIN { m = int(n * s + 0.5); print m < 1 ? 1 : m }'
}

need() { # PROGRAM PACKAGE
    command -v "$1" >/dev/null || {
        echo "$1 is not installed (apt-get install $2)"
        return 77
    }
}

need_module() { # MODULE PACKAGE
    "$python" -c "import $1" 2>/dev/null || {
        echo "$python has no module $1 (apt-get install $2)"
        return 77
    }
}

prepare() {
    :
}

# What a recording of it needs beside the usual, a word a line.
record_options() {
    :
}

# Becomes Python with malloc under every object: pymalloc's pools would hide them.
exec_python() { # CODE ARGUMENT...
    export PYTHONMALLOC=malloc PYTHONHASHSEED=0
    exec "$python" -c "$@"
}

main() {
    case ${1-} in
    check) check ;;
    record-options) record_options ;;
    prepare | run) "$1" "${2:?"the folder of its files"}" ;;
    serve | load)
        declare -F "$1" >/dev/null || {
            echo "$(basename "$0") is no service" >&2
            return 1
        }
        "$1" "${2:?"the folder of its files"}"
        ;;
    *)
        echo "usage: $(basename "$0") check | record-options | prepare DIR | run DIR | serve DIR | load DIR" >&2
        return 2
        ;;
    esac
}
