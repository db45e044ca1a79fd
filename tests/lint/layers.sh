#!/usr/bin/env bash
# Refuses an include that goes up, or sideways, in the pipeline:
#   main -> commands -> {workload, harness, metrics, report} -> {trace, result} -> base
# Siblings meet in trace/ and result/; allocators/ knows nothing of src/.
# Usage: layers.sh SOURCE_DIR
set -euo pipefail
cd "$1"

# What a folder may include besides itself. report/ shows the verdicts that metrics/ computes.
declare -A allowed=(
    [main]="commands"
    [commands]="workload harness metrics report trace result base allocators"
    [workload]="trace result base"
    [harness]="trace result base allocators"
    [metrics]="result base"
    [report]="metrics result base"
    [worker]="trace base allocators"
    [preload]="trace allocators"
    [trace]="base"
    [result]="base"
    [base]=""
    [allocators]="fragbench"
    [allocators/preload]="fragbench"
    [allocators/budgeted]="preload fragbench"
    [allocators/tensor_arena]="preload fragbench"
    [allocators/request_arena]="preload fragbench"
)

layer_of() {
    case $1 in
    src/main.c) echo main ;;
    src/*/*) local rest=${1#src/} && echo "${rest%%/*}" ;;
    allocators/include/*) echo allocators ;;
    allocators/*/*) dirname "$1" ;;
    allocators/*) echo allocators ;;
    esac
}

faults=0
while IFS=: read -r file line text; do
    layer=$(layer_of "$file")
    included=$(sed -E 's/.*"([^"]+)".*/\1/' <<<"$text")
    [[ $layer == allocators/* ]] && included=${included#allocators/}
    target=${included%%/*}
    if [[ -z ${allowed[$layer]+known} ]]; then
        echo "$file:$line: folder \"$layer\" is not in the layer table of tests/lint/layers.sh"
        faults=$((faults + 1))
    elif [[ $included != */* ]]; then
        echo "$file:$line: \"$included\": qualify the include with its folder"
        faults=$((faults + 1))
    elif [[ $target != "${layer##*/}" && " ${allowed[$layer]} " != *" $target "* ]]; then
        echo "$file:$line: $layer/ must not include \"$included\""
        faults=$((faults + 1))
    fi
done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' --include='*.[ch]' src allocators)

echo "$faults faults"
[[ $faults -eq 0 ]]
