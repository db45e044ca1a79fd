#!/usr/bin/env bash
# Writes the key tables of docs/language.md anew, from what the program accepts:
#   FRAGBENCH=build/release/bin/fragbench docs/update-language.sh [--check]
# --check changes nothing and fails when the tables differ.
set -euo pipefail

fragbench=$(realpath "${FRAGBENCH:-$(dirname "$0")/../build/release/bin/fragbench}")
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$fragbench" list keys --markdown >"$work/keys.md"
awk -v keys="$work/keys.md" '
    /^<!-- keys:end -->/ { inside = 0; ended++ }
    !inside { print }
    /^<!-- keys:begin/ {
        inside = 1; begun++
        print ""
        while ((getline line <keys) > 0) print line
        print "" }
    END { exit begun != 1 || ended != 1 || inside }' language.md >"$work/language.md" || {
    echo "docs/language.md: its two key markers are not there once, in order" >&2
    exit 1
}
if [[ ${1:-} == --check ]]; then
    diff -u language.md "$work/language.md" || {
        echo "docs/language.md is out of date: run docs/update-language.sh" >&2
        exit 1
    }
else
    cat "$work/language.md" >language.md
fi
