#!/usr/bin/env bash
# Recordings beside the programs: the peak of anonymous memory of real programs under four allocators,
# as the kernel tells it, beside that of one recording (made on ptmalloc2) replayed under each, and of
# the workload fitted to it. Needs /usr/bin/python3, sqlite3 and git; what is missing is left out and
# named.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

declare -A library=([ptmalloc2]="" [jemalloc]=libjemalloc.so.2 [tcmalloc]=libtcmalloc_minimal.so.4
    [mimalloc]=libmimalloc.so.2)
folder=$(realpath -m "$work")
root=$PWD

objects='
import random
random.seed(1)
kept = {}
for i in range(60000):
    kept[i] = [bytes(random.randrange(20, 3000)) for _ in range(2)]
    if i % 3 == 0:
        kept.pop(random.choice(range(max(0, i - 999), i + 1)), None)
kept = {k: v for k, v in kept.items() if k % 10 == 0}
more = [bytearray(random.randrange(1000, 200000)) for _ in range(1000)]
'
threads='
import queue, random, threading
random.seed(1)
q = queue.Queue()
def work(n):
    for i in range(2500):
        q.put(bytearray(1000 + (i * n) % 150000))
        if i % 3:
            q.get()
crew = [threading.Thread(target=work, args=(k,)) for k in range(8)]
[t.start() for t in crew]
[t.join() for t in crew]
'
parse='
import ast, json, glob, os
trees = []
for path in sorted(glob.glob(os.path.dirname(os.__file__) + "/*.py"))[:60]:
    trees.append(ast.parse(open(path).read()))
text = json.dumps([ast.dump(t) for t in trees[:20]])
del trees
again = json.loads(text)
'
table="create table t(a integer primary key, b text); with recursive n(i) as
    (select 1 union all select i+1 from n where i < 150000)
    insert into t select i, hex(randomblob(40)) from n; create index x on t(b);
    select count(*) from (select distinct substr(b, 1, 3) from t); delete from t where a % 3 = 0"

# Prints the largest RssAnon of COMMAND in bytes, asked every 2 ms and at its end.
peak_of() { # LIBRARY COMMAND...
    local preload=$1
    shift
    LD_PRELOAD="" PYTHONMALLOC=malloc /usr/bin/python3 - "$preload" "$@" <<'PYTHON'
import os, subprocess, sys, time
environment = dict(os.environ, PYTHONMALLOC="malloc")
if sys.argv[1]:
    environment["LD_PRELOAD"] = sys.argv[1]
child = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, env=environment)
page, peak = os.sysconf("SC_PAGESIZE"), 0
while child.poll() is None:
    try:
        fields = open(f"/proc/{child.pid}/statm").read().split()
        peak = max(peak, (int(fields[1]) - int(fields[2])) * page)
    except (OSError, IndexError):
        pass
    time.sleep(0.002)
print(peak)
PYTHON
}

mib() {
    awk -v b="$1" 'BEGIN { printf "%.1f", b / 1048576 }'
}

replayed() { # RESULT ALLOCATOR
    jq --arg a "$2" '.cells[] | select(.allocator.name == $a) | .summary.peak_footprint_bytes.median' \
        "$1/result.json"
}

show() { # NAME COMMAND...
    local name=$1 allocator real replay fitted
    shift
    command -v "$1" >/dev/null || {
        echo "$name: $1 is not installed"
        return 0
    }
    (cd "$folder" && PYTHONMALLOC=malloc "$fragbench" record -f -o "$name.fbt" --workload "$name.yaml" \
        -a ptmalloc2 -- "$@" 2>"$name.messages" | tail -n 1) | sed 's/^/    /'
    grep 'peak live' "$folder/$name.messages" | sed 's/^fragbench: /    /'
    bench "$work/$name.fbt" -o "$work/$name" --layouts 1 --no-timing >/dev/null
    bench "$work/$name.yaml" -o "$work/$name-fitted" --layouts 1 --no-timing >/dev/null
    for allocator in ptmalloc2 jemalloc tcmalloc mimalloc; do
        real=$(peak_of "${library[$allocator]}" "$@")
        replay=$(replayed "$work/$name" $allocator)
        fitted=$(replayed "$work/$name-fitted" $allocator)
        printf '%-10s %-10s %9s %9s %+7.1f %% %9s %+7.1f %%\n' "$name" $allocator "$(mib "$real")" \
            "$(mib "$replay")" "$(awk -v a="$replay" -v b="$real" 'BEGIN { print 100 * (a / b - 1) }')" \
            "$(mib "$fitted")" "$(awk -v a="$fitted" -v b="$real" 'BEGIN { print 100 * (a / b - 1) }')"
    done
}

{
    echo "peak of anonymous memory in MiB: the program, its recording replayed, its fitted workload"
    printf '%-10s %-10s %9s %9s %9s %9s %9s\n' program allocator program replayed off fitted off
    show objects /usr/bin/python3 -c "$objects"
    show threads /usr/bin/python3 -c "$threads"
    show parse /usr/bin/python3 -c "$parse"
    show sqlite sqlite3 :memory: "$table"
    show git git -C "$root" log --stat -n 300 --format=%s
    machine "$work/objects/result.json"
} | tee "$out/output.txt"
