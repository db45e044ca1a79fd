#!/usr/bin/env bash
#SBATCH --job-name=fragbench
#SBATCH --output=%x-%a.log
#SBATCH --exclusive
# One shard of a plan as one task of a Slurm job array. Its number is the task's; how many there are
# is an argument, so that a task that failed can be run again alone (--array=3):
#
#   sbatch --array=1-N shard-slurm.sh N DIR ARGUMENT...
#
# ARGUMENTs as for `fragbench run`, without -o and --shard.
set -euo pipefail
shards=$1 dir=$2
shift 2
exec "${FRAGBENCH:-fragbench}" run --shard "$SLURM_ARRAY_TASK_ID/$shards" --progress never \
    -f -o "$dir/shard-$SLURM_ARRAY_TASK_ID" "$@"
