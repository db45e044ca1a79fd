#!/usr/bin/env bash
# Submits one plan as N shards to Slurm, and a job behind them that joins them.
#
#   submit-slurm.sh N DIR ARGUMENT...        ARGUMENTs as for `fragbench run`, without -o and --shard
set -euo pipefail
shards=$1 dir=$2
here=$(dirname "$0")
array=$(sbatch --parsable --array="1-$shards" "$here/shard-slurm.sh" "$@")

# afterany, not afterok: with a shard missing, merge says which; with a cell failed, its exit code.
sbatch --parsable --dependency="afterany:$array" --job-name=fragbench-merge \
    --output="$dir-merge.log" \
    --wrap "\"${FRAGBENCH:-fragbench}\" merge -f -o \"$dir/merged\" \"$dir\"/shard-*"
