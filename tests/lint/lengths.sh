#!/usr/bin/env bash
# Functions of at most 60 lines (tables are no functions), files of at most 500, lines of at most
# 100 columns. Usage: lengths.sh SOURCE_DIR
set -euo pipefail
cd "$1"

# shellcheck disable=SC2016 # the $ are awk fields
find src allocators -name '*.[ch]' -print0 | sort -z | LC_ALL=C xargs -0 awk '
    function report(text) { print text; faults++ }
    FNR == 1 { if (NR > 1 && lines > 500) report(name ": " lines " lines; at most 500")
               name = FILENAME; lines = 0; start = 0 }
    { lines++
      shown = $0; gsub(/[\x80-\xbf]/, "", shown)
      if (length(shown) > 100) report(FILENAME ":" FNR ": " length(shown) " columns; at most 100") }
    /^\{/ { start = FNR }
    /^\}/ { if (start > 0 && FNR - start - 1 > 60)
                report(FILENAME ":" start ": a function of " FNR - start - 1 " lines; at most 60")
            start = 0 }
    END { if (lines > 500) report(name ": " lines " lines; at most 500")
          print faults + 0 " faults"; exit faults > 0 }'
