#!/usr/bin/env bash
# Every header compiles alone. Usage: headers.sh SOURCE_DIR COMPILER
set -euo pipefail
cd "$1"
faults=0
while IFS= read -r -d '' header; do
    if ! "$2" -std=gnu17 -D_GNU_SOURCE -Isrc -I. -Iallocators -Iallocators/include -Wall -Wextra \
        -fsyntax-only -x c "$header" 2>&1; then
        echo "$header does not compile alone"
        faults=$((faults + 1))
    fi
done < <(find src allocators -name '*.h' -print0 | sort -z)
echo "$faults faults"
[[ $faults -eq 0 ]]
