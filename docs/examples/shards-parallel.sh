#!/usr/bin/env bash
# Runs one plan as N shards with GNU parallel, and joins them.
#
#   shards-parallel.sh N DIR ARGUMENT...     ARGUMENTs as for `fragbench run`, without -o and --shard
#
# HOSTS: machines to use, as parallel's --sshlogin takes them ("node1,node2"); they must see this
# folder and fragbench under the same paths. Default: this one, ":".
set -euo pipefail
shards=$1 dir=$2
shift 2
fragbench=${FRAGBENCH:-fragbench}
mkdir -p "$dir"

# One shard a machine at a time (--jobs 1): two would disturb each other's timing.
# A shard that fails must not keep the others from being joined: merge says what is wrong.
seq "$shards" |
    parallel --quote --sshlogin "${HOSTS:-:}" --workdir "$PWD" --jobs 1 --joblog "$dir/jobs.txt" \
        "$fragbench" run --shard "{}/$shards" --progress never -f -o "$dir/shard-{}" "$@" \
        >"$dir/tables.txt" || echo "some shards failed: see $dir/jobs.txt" >&2

exec "$fragbench" merge -f -o "$dir/merged" "$dir"/shard-*
