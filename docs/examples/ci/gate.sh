#!/usr/bin/env bash
# Does this branch make memory worse? Measures it and the commit that it left BASE at, in one job on
# one machine, and compares them. From the top of the repository:
#
#   bench/gate.sh [BASE]      (default origin/main)
#
# Each side is built and measured by its own bench/measure.sh. All documents are left in gate/.
# The exit code is that of `fragbench compare`. It is 0 with a note where there is nothing to compare
# with yet, and where a commit of the branch has a line "Memory: accepted, REASON" in its message.
set -euo pipefail
fragbench=${FRAGBENCH:-fragbench}
[[ $fragbench != */* ]] || fragbench=$(realpath "$fragbench")
export FRAGBENCH=$fragbench
by=${GATE_BY:-sha256,tunables,params,seed,trace} # what a commit may change; the rest must be equal

base=$(git merge-base HEAD "${1:-origin/main}") || {
    echo "gate: no common history with ${1:-origin/main}: fetch all of it (fetch-depth: 0)" >&2
    exit 2
}

# measure FOLDER OUT: a run that is over a limit (1) or has a failed cell (5) leaves a result all the
# same, and compare says so. After anything else there is nothing to go on with.
measure() {
    local status=0
    (cd "$1" && bench/measure.sh "$2") >"$2.txt" 2>&1 || status=$?
    [[ $status =~ ^[015]$ && -e $2/result.json ]] || {
        cat "$2.txt" >&2
        echo "gate: bench/measure.sh ended with $status in $1" >&2
        exit 3
    }
}

out=$PWD/gate
rm -rf "$out"
mkdir "$out"
git worktree prune
git worktree add --quiet --detach "$out/base" "$base"
trap 'git worktree remove --force "$out/base"' EXIT
measure . "$out/result-new"
if [[ ! -e $out/base/bench/measure.sh ]]; then
    echo "gate: ${base:0:10} has no bench/measure.sh, so there is no baseline yet: passed"
    exit 0
fi
measure "$out/base" "$out/result-base"

status=0
"$fragbench" compare base=gate/result-base new=gate/result-new --by "$by" \
    --metric peak_footprint_bytes,ratio_peak,kept_bytes,end_footprint_bytes \
    --export junit="$out/junit.xml" --export markdown="$out/comment.md" \
    --export gitlab="$out/gl-code-quality-report.json" --export github="$out/annotations.txt" \
    --export github-summary="$out/summary.md" || status=$?

if [[ -n ${GITHUB_STEP_SUMMARY:-} ]]; then
    cat "$out/annotations.txt"
    cat "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"
fi
if [[ $status -eq 4 ]]; then
    echo "gate: nothing that the base has measured is still there, so there is no baseline yet: passed"
    exit 0
fi
accepted=$(git log --format=%B "$base..HEAD" | grep -m 1 '^Memory: accepted' || true)
if [[ $status -eq 1 && -n $accepted ]]; then
    echo "gate: worse, and meant so: \"$accepted\": passed"
    exit 0
fi
exit "$status"
