#!/usr/bin/env bash
# bench/measure.sh OUT: builds the program that is here, records one run of it and replays that.
set -euo pipefail
fragbench=${FRAGBENCH:-fragbench}
make --silent
mkdir -p build
"$fragbench" record -f -o build/service.fbt -- ./build/service --self-test
exec "$fragbench" run build/service.fbt -a ptmalloc2 \
    --layouts 5 --no-timing --progress never -o "$1"
