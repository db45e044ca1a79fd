#!/usr/bin/env bash
# bench/measure.sh OUT: builds what is here and measures it into the folder OUT.
set -euo pipefail
make --silent
exec "${FRAGBENCH:-fragbench}" run bench/*.yaml -a mine=./build/libmine.so \
    --layouts 5 --no-timing --progress never -o "$1"
