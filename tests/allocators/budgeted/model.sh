#!/bin/sh
# Checks reserve.pml exhaustively, and that its broken variant is found to be broken.
#   model.sh MODEL     exit code 77 where spin is not installed
set -eu
command -v spin >/dev/null && command -v cc >/dev/null || exit 77
model=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

errors() { # [-DNAME]
    spin "$@" -a "$model" >/dev/null
    cc -O1 -w -DSAFETY -DCOLLAPSE -DMEMLIM=4000 -o pan pan.c
    ./pan -m1000000 >out
    grep -q 'Search not completed' out && ! grep -q 'errors: [1-9]' out && { cat out; exit 1; }
    sed -n 's/.*errors: \([0-9]*\).*/\1/p' out
}

found=$(errors)
echo "with membarrier: $found errors in $(sed -n 's/ *\([0-9.e+]*\) states, stored.*/\1/p' out) states"
broken=$(errors -DNO_MEMBARRIER)
echo "without: $broken errors"
[ "$found" = 0 ] && [ "$broken" != 0 ]
