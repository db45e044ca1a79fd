#!/usr/bin/env bash
# Copies the scripts of docs/examples/ into the documents that show them: the code block below a line
# "<!-- file: examples/NAME -->". With --check nothing is written; the exit code says whether the
# documents are up to date.
set -euo pipefail
cd "$(dirname "$0")"
check=${1:-}
status=0

# shellcheck disable=SC2016 # the quotes hold awk
for document in *.md; do
    fresh=$(mktemp)
    awk '
        copying && /^```/ { copying = 0 }
        !copying { print }
        /^<!-- file: .* -->$/ { file = $3; next }
        file != "" && /^```/ {
            while ((got = (getline line < file)) > 0) print line
            if (got < 0) { print file ": cannot be read" > "/dev/stderr"; exit 1 }
            close(file); file = ""; copying = 1 }' "$document" >"$fresh"
    if cmp -s "$document" "$fresh"; then
        rm "$fresh"
    elif [[ $check == --check ]]; then
        echo "docs/$document does not show the examples as they are: run docs/update-examples.sh"
        rm "$fresh"
        status=1
    else
        cat "$fresh" >"$document"
        rm "$fresh"
    fi
done
exit "$status"
