#!/usr/bin/env bats
# The example scripts of docs/scaling.md, run as they stand there.

bats_require_minimum_version 1.5.0
load common

examples=$BATS_TEST_DIRNAME/../../docs/examples

teardown() {
    if [[ -n ${cluster:-} ]]; then stop_cluster; fi
}

@test "GNU parallel: shards run, fail and are joined" {
    command -v parallel >/dev/null || skip "no GNU parallel (apt-get install parallel)"
    plan=(-a 'ptmalloc2:arena_max={1,2}' -L 'count={uniform: [1, 5]},7' --layouts 1 --no-timing)
    run --separate-stderr "$examples/shards-parallel.sh" 3 out "${plan[@]}" tiny.yaml
    assert_status 0
    assert_contains "$output" "Merged from 3 of 3 shards"
    assert_equal "$(jq -c '[.cells[].status] | unique' out/merged/result.json)" '["ok"]'
    diff <("$FRAGBENCH" run --dry-run "${plan[@]}" tiny.yaml) \
        <(jq -r '.cells[].id' out/merged/result.json)
    # A cell that fails does not keep the others from being joined; the exit code says so.
    write_marked
    run --separate-stderr "$examples/shards-parallel.sh" 2 bad -a ptmalloc2 \
        -a "bad=$FAULTY/libfaulty_crash.so" --layouts 1 --no-timing marked.yaml
    assert_status 5
    assert_equal "$(jq -c '[.cells[].status]' bad/merged/result.json)" '["ok","crashed"]'
}

# A cluster of this machine alone: munged, slurmctld and slurmd with files and ports of their own.
start_cluster() {
    local host
    host=$(hostname -s)
    cluster=$(mktemp -d)
    mkdir "$cluster/state" "$cluster/spool"
    dd if=/dev/urandom of="$cluster/munge.key" bs=32 count=1 status=none
    chmod 400 "$cluster/munge.key"
    cat >"$cluster/slurm.conf" <<CONF
ClusterName=fragbench
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$((20000 + $$ % 20000))
SlurmdPort=$((20001 + $$ % 20000))
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$cluster/munge.socket
CryptoType=crypto/munge
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/builtin
SelectType=select/linear
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    export SLURM_CONF=$cluster/slurm.conf
    munged --foreground --force --socket="$cluster/munge.socket" --key-file="$cluster/munge.key" \
        --pid-file="$cluster/munged.pid" --log-file="$cluster/munged.log" \
        --seed-file="$cluster/munged.seed" >"$cluster/munged.out" 2>&1 3>&- &
    daemons=($!)
    wait_for test -S "$cluster/munge.socket"
    slurmctld -D >"$cluster/slurmctld.out" 2>&1 3>&- &
    daemons+=($!)
    slurmd -D -N "$host" >"$cluster/slurmd.out" 2>&1 3>&- &
    daemons+=($!)
    wait_for node_is_idle
}

node_is_idle() {
    [[ $(sinfo --noheader --format=%t 2>/dev/null) == idle* ]]
}

wait_for() {
    local i
    for ((i = 0; i < 300; i++)); do
        if "$@"; then return 0; fi
        sleep 0.1
    done
    tail -n 20 "$cluster"/*.log "$cluster"/*.out >&2
    fail "waited in vain for: $*"
}

no_jobs_left() {
    [[ -z $(squeue --noheader) ]]
}

stop_cluster() {
    local i
    for ((i = ${#daemons[@]} - 1; i >= 0; i--)); do
        kill "${daemons[i]}" 2>/dev/null || true
        wait "${daemons[i]}" 2>/dev/null || true
    done
    rm -rf "$cluster"
}

@test "Slurm: a job array runs the shards, a job behind it joins them" {
    for program in slurmctld slurmd munged sbatch; do
        PATH=$PATH:/usr/sbin command -v "$program" >/dev/null ||
            skip "no $program (apt-get install slurm-wlm munge)"
    done
    [[ $(id -u) -eq 0 ]] || skip "needs root for slurmd"
    PATH=$PATH:/usr/sbin
    plan=(-a 'ptmalloc2:arena_max={1,2}' -a ptmalloc2 --layouts 1 --no-timing)
    start_cluster
    run --separate-stderr "$examples/submit-slurm.sh" 4 out "${plan[@]}" tiny.yaml
    assert_status 0
    wait_for no_jobs_left
    assert_equal "$(cat fragbench-*.log | grep -c 'results are in out/shard-')" 4
    assert_contains "$(cat fragbench-4.log)" "none of the 3 cells is in it"
    assert_contains "$(cat out-merge.log)" "Merged from 4 of 4 shards"
    diff <("$FRAGBENCH" run --dry-run "${plan[@]}" tiny.yaml) \
        <(jq -r '.cells[].id' out/merged/result.json)
    assert_equal "$(jq -c '[.cells[].status] | unique' out/merged/result.json)" '["ok"]'
    # One task again, alone.
    rm -r out/shard-2
    sbatch --parsable --array=2 "$examples/shard-slurm.sh" 4 out "${plan[@]}" tiny.yaml
    wait_for no_jobs_left
    run "$FRAGBENCH" merge -f -o out/merged out/shard-*
    assert_status 0
}
