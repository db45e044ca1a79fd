#!/usr/bin/env bash
# Writes exact.tsv anew from this machine. Look at the difference before you commit it.
# Usage: FRAGBENCH=build/bin/fragbench tests/workloads/update-exact.sh
# shellcheck disable=SC1091,SC2154 # they come from the two sourced files
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
FRAGBENCH=$(realpath "${FRAGBENCH:?set it to the program}")
source "$here/common.bash"
source "$here/exact.bash"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mapfile -t library < <(sed -nE 's/^@test .* matches_table ([a-z0-9-]+);.*/\1/p' "$here/exact.bats")
for name in "${library[@]}"; do
    measure_small "$name" -a "$contenders" >"$name.json"
    jq -e 'all(.cells[]; .status == "ok")' "$name.json" >/dev/null || fail "$name: not all ok"
done
first=${library[0]}.json
{
    printf '# The library at its small scale, layout 0. Made by update-exact.sh.\n'
    printf '# host\t%s\n' "$(jq -r "$host_line" "$first")"
    jq -r '.cells[] | "# allocator\t\(.allocator.name)\t\('"$build_line"')"' "$first"
    printf '# workload\tparameters\tallocator\tmetric\tvalue\n'
    for name in "${library[@]}"; do
        jq -r --arg scale "$(small_scale "$name")" '.cells[] | . as $cell | '"$exact_metrics"'[]
            | select($cell.summary[.].median != null)
            | [$cell.workload.name, $scale, $cell.allocator.name, ., $cell.summary[.].median]
            | @tsv' "$name.json"
    done
} >"$here/exact.tsv.new"
mv "$here/exact.tsv.new" "$here/exact.tsv"
