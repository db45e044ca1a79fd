#!/usr/bin/env bash
# Real programs under each of our allocators, preloaded: each must end as under glibc. Then the
# interpreter's own tests of JSON, threads and child processes, where they are installed
# (libpython3.11-testsuite).
# Usage: FRAGBENCH=path tests/figures/programs.sh [OUTDIR]
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

libraries=$(dirname "$fragbench")
check=tests/allocators/programs.sh
own_tests=(test_json test_threading test_subprocess)

# One line an allocator: each test's result, which must be that of glibc's line.
python_tests() { # LABEL LIBRARY
    local name line="python3 -m test, $1:"
    for name in "${own_tests[@]}"; do
        local status=0
        LD_PRELOAD=$2 python3 -m test -q "$name" >"$work/python.log" 2>&1 || status=$?
        line+=" $name $([[ $status -eq 0 ]] && echo passes || echo "fails ($(
            grep -oE '^(FAIL|ERROR): [a-z_0-9]+' "$work/python.log" | sort -u | cut -d ' ' -f 2 |
                paste -sd,))"),"
    done
    echo "${line%,}"
}

main() {
    local name
    for name in budgeted tensor-arena request-arena; do
        echo "\$ $check libfragbench-$name.so"
        "$check" "$libraries/libfragbench-$name.so"
        echo
    done
    for name in ptmalloc2 budgeted tensor-arena request-arena; do
        local library=
        [[ $name == ptmalloc2 ]] || library=$libraries/libfragbench-$name.so
        python_tests "$name" "$library"
    done
    echo
    echo "with: $(python3 --version), $(redis-server --version | cut -d ' ' -f 3), SQLite $(
        sqlite3 --version | cut -d ' ' -f 1), $(git --version), node $(node --version), gcc $(
        gcc -dumpfullversion)"
}
main | tee "$out/output.txt"
