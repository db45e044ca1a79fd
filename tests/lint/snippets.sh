#!/usr/bin/env bash
# Every yaml block of the docs that is a whole workload passes `fragbench check`.
# Usage: snippets.sh SOURCE_DIR FRAGBENCH
set -euo pipefail
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2016 # the quotes hold awk
find . -maxdepth 2 -name '*.md' \( -path './docs/*' -o -path './README.md' \) -print0 |
    xargs -0 awk -v work="$work" '
        /^```/ && inside { inside = 0; close(file); next }
        /^```yaml/ { inside = 1; fresh = 1; next }
        inside && fresh { fresh = 0
                          whole = /^fragbench: 1/
                          if (whole) file = work "/" ++count "-" FNR ".yaml" }
        inside && whole { print > file }'

faults=0 checked=0
for file in "$work"/*.yaml; do
    [[ -e $file ]] || continue
    checked=$((checked + 1))
    "$2" check "$file" >/dev/null || faults=$((faults + 1))
done
echo "$checked snippets, $faults faults"
[[ $checked -gt 0 && $faults -eq 0 ]]
