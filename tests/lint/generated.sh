#!/usr/bin/env bash
# What is generated and kept in the tree is what its generator makes now: the key tables of
# docs/language.md, the example scripts in docs/scaling.md, the measured parts of workloads; and the fuzzer's
# dictionary has every key of the language. Usage: generated.sh SOURCE_DIR FRAGBENCH
set -euo pipefail
cd "$1"
faults=0
FRAGBENCH=$2 docs/update-language.sh --check || faults=$((faults + 1))
docs/update-examples.sh --check || faults=$((faults + 1))
python3 workloads/data/make-workload.py --check || faults=$((faults + 1))
# shellcheck disable=SC2016 # sed's
while read -r key; do
    grep -qxF "\"$key\"" tests/fuzz/workload.dict || {
        echo "tests/fuzz/workload.dict: the key $key is missing"
        faults=$((faults + 1))
    }
done < <(sed -nE 's/^\| `([a-z_]+)` .*/\1/p' docs/language.md | sort -u)
echo "$faults faults"
[[ $faults -eq 0 ]]
