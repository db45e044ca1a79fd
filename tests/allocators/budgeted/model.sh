#!/bin/sh
# Checks reserve.pml exhaustively, and that its broken variants are found to be broken.
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
echo "as it is: $found errors in $(sed -n 's/ *\([0-9.e+]*\) states, stored.*/\1/p' out) states"
unfenced=$(errors -DNO_MEMBARRIER)
impatient=$(errors -DNO_WAIT)
echo "without membarrier: $unfenced errors; without the wait for busy: $impatient"
[ "$found" = 0 ] && [ "$unfenced" != 0 ] && [ "$impatient" != 0 ]
