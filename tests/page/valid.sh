#!/usr/bin/env bash
# The report of a real run is HTML without a fault, warnings included.
set -euo pipefail
command -v tidy >/dev/null || {
    echo "tidy is not installed (apt-get install tidy)"
    exit 77
}
workloads=$(cd "$(dirname "$0")/../../workloads" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$FRAGBENCH" run "$workloads/size-shift.yaml" -L first=70000,35000 -L second=17000 -a ptmalloc2,null -a budgeted:budget=8MiB -a mimalloc \
    --layouts 1 -o result >/dev/null 2>messages || [[ $? -eq 5 ]] || { cat messages; exit 1; }
"$FRAGBENCH" report result
# Custom data attributes and ARIA are known to it; an empty <dd> is no fault of ours.
tidy -quiet -errors --drop-empty-elements no result/report.html
