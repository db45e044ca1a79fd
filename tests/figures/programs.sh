#!/usr/bin/env bash
# Real programs under each of our allocators, preloaded: each must end as under glibc. Then the
# interpreter's own tests of JSON, threads and child processes, where they are installed
# (libpython3.11-testsuite).
# Usage: FRAGBENCH=path tests/figures/programs.sh [OUTDIR]
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

libraries=$(dirname "$fragbench")
check=tests/allocators/request_arena/programs.sh
own_tests=(test_json test_threading test_subprocess)

python_tests() { # LABEL LIBRARY
    local status=0 summary
    LD_PRELOAD=$2 python3 -m test -q "${own_tests[@]}" >"$work/python.log" 2>&1 || status=$?
    summary=$(sed -nE 's/^(Result: .*|All .* tests OK.*|.* tests? failed.*)$/\1/p' \
        "$work/python.log" | tail -n 1)
    echo "python3 -m test ${own_tests[*]}, $1: status $status, ${summary:-no summary}"
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
