#!/usr/bin/env bash
# Puts what the figure scripts printed into OUTDIR/README.md, between the markers
#   <!-- output:begin NAME -->  and  <!-- output:end -->
# Usage: tests/figures/readme.sh [OUTDIR]
set -euo pipefail

cd "${1:-$(dirname "$0")/../../results/reference}"
new=$(mktemp README.XXXXXX)
trap 'rm -f "$new"' EXIT
awk '
    /^<!-- output:end -->/ { inside = 0 }
    !inside { print }
    /^<!-- output:begin / {
        inside = 1; file = $3 "/output.txt"; lines = 0
        print "```"
        while ((getline line <file) > 0) { print line; lines++ }
        print "```"
        if (lines == 0) { print "readme.sh: no " file >"/dev/stderr"; missing = 1 } }
    END { exit missing || inside }' README.md >"$new"
chmod 644 "$new"
mv "$new" README.md
trap - EXIT
