#!/usr/bin/env bash
# The project's own gate: some of its workloads, measured now, against the baseline that is kept in
# results/reference/gate. The system's allocators must not differ by a page for the worse: nothing but
# fragbench can have changed. Our own must not by 1 % and 64 KiB. Cells of another allocator version,
# libc, page size or number of CPUs are skipped, and said.
# Usage: [FRAGBENCH=path] [BASELINE=folder] tests/gate/own.sh
# Exit code: 0 passed, 1 worse, 77 nothing could be compared on this machine; others as fragbench's.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

# shellcheck disable=SC2034 # by its name
rules_system=(--exact)
# shellcheck disable=SC2034 # by its name
rules_own=(--threshold 1% --noise 64KiB)

kernel() {
    jq -r .host.kernel "$1/result.json"
}

# Only what comes from elsewhere may be missing.
check_presence() { # PART
    local absent
    absent=$(jq -r '.cells[] | select(.status != "ok" and .status != "not-installed"
        or .status == "not-installed" and (.allocator.backend | IN($ARGS.positional[])))
        | "\(.id): \(.status)"' "$work/$1/result.json" --args ptmalloc2 "${own[@]%%:*}")
    [[ -z $absent ]] || {
        echo "own gate: no figures of $absent" >&2
        return 5
    }
}

# judge PART: compare's exit code.
judge() {
    local -n rules=rules_$1
    local options=("${rules[@]}")
    if [[ $(kernel "$baseline/$1") != "$(kernel "$work/$1")" ]]; then
        options=()
        echo "own gate: the baseline is of another kernel ($(kernel "$baseline/$1")): the usual thresholds"
    fi
    "$fragbench" compare "${options[@]}" --skip-unlike --fail-on regressed \
        --metric ratio_peak,kept_bytes,end_footprint_bytes,retained_purged_bytes \
        "baseline=$baseline/$1" "now=$work/$1"
}

worst=77
for part in "${parts[@]}"; do
    measure "$part"
    check_presence "$part"
    status=0
    judge "$part" || status=$?
    case $status in
    4) ;; # nothing to compare; the other part may have something
    0) [[ $worst -ne 77 ]] || worst=0 ;;
    *)
        [[ $worst -ne 77 && $worst -ne 0 ]] || worst=$status
        echo "own gate: if this is meant, tests/gate/update.sh makes a new baseline" >&2
        ;;
    esac
done
exit "$worst"
