#!/usr/bin/env bash
# Real programs under a preloaded allocator: each must end as it does without, with the same output.
# A program that is not installed is named and left out. Usage: programs.sh LIBRARY
set -euo pipefail
library=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
faults=0 ran=0

# compare NAME PROGRAM ARGUMENT…: standard input comes from ./input
compare() {
    local name=$1 plain=0 preloaded=0
    shift
    if ! command -v "$1" >/dev/null; then
        echo "$name: not installed"
        return
    fi
    rm -rf a b && mkdir a b
    (cd a && "$@" <../input >../plain.out 2>../plain.err) || plain=$?
    (cd b && LD_PRELOAD=$library exec "$@" <../input >../preloaded.out 2>../preloaded.err) ||
        preloaded=$?
    ran=$((ran + 1))
    if [[ $plain -ne $preloaded ]] || ! cmp -s plain.out preloaded.out || ! diff -rq a b; then
        echo "$name: status $preloaded, without the library $plain"
        head -n 20 preloaded.err
        faults=$((faults + 1))
    else
        echo "$name: as without"
    fi
}

: >input
compare python3 python3 -c '
import json, threading, hashlib, subprocess
def work(n, out):
    data = {str(i): [i] * (i % 50) for i in range(n)}
    out.append(hashlib.sha256(json.dumps(json.loads(json.dumps(data))).encode()).hexdigest())
out = []
threads = [threading.Thread(target=work, args=(3000, out)) for _ in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(len(out), len(set(out)), out[0], subprocess.check_output(["echo", "child"]))'

cat >input <<'SQL'
create table t(a integer primary key, b text, c blob);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
  insert into t select i, hex(i * 7919 % 10007), zeroblob(i % 300) from n;
create index x on t(b);
delete from t where a % 3 = 0;
select count(*), sum(length(c)), min(b), max(b) from t;
select b, count(*) from t group by b order by 2 desc, 1 limit 5;
vacuum; pragma integrity_check;
SQL
compare sqlite3 sqlite3 test.db
: >input

# shellcheck disable=SC2016 # the inner shell's
compare git bash -c 'export HOME=$PWD GIT_AUTHOR_DATE="1700000000 +0000" GIT_COMMITTER_DATE="1700000000 +0000"
git init -q repository && cd repository && git config user.name n && git config user.email e@x && git config pack.threads 1
for i in $(seq 15); do seq "$i" $((i * 50)) >"f$i"; git add . && git commit -qm "$i"; done
git gc -q && git fsck && git log --stat | sha256sum && rm -rf .git/index .git/gc.log'

compare node node -e '
const a = []; for (let i = 0; i < 100000; i++) a.push({i, s: "x".repeat(i % 40)});
const b = JSON.parse(JSON.stringify(a));
console.log(require("crypto").createHash("sha256").update(JSON.stringify(b)).digest("hex"));
console.log(require("zlib").gzipSync(Buffer.alloc(1 << 22, "ab")).length)'

{
    echo '#include <stddef.h>'
    for ((i = 0; i < 1000; i++)); do
        echo "static size_t f$i(size_t x) { for (size_t j = 0; j < x; j++) x ^= j * $i; return x; }"
    done
    echo 'size_t all(size_t x); size_t all(size_t x) {'
    for ((i = 0; i < 1000; i++)); do echo "x += f$i(x);"; done
    echo 'return x; }'
} >large.c
compare gcc gcc -O2 -c ../large.c -o large.o

# shellcheck disable=SC2016
compare redis bash -c 'set -e
redis-server --port 0 --unixsocket "$PWD/socket" --save "" --daemonize no >/dev/null & server=$!
for _ in $(seq 100); do [[ -S socket ]] && break; sleep 0.1; done
redis-benchmark -s "$PWD/socket" -q -n 3000 -c 20 -t set,get,lpush,lpop,sadd,hset,zadd >/dev/null
redis-cli -s "$PWD/socket" eval "for i = 1, 2000 do redis.call(\"set\", \"k\" .. i, string.rep(\"v\", i)) end return redis.call(\"strlen\", \"k2000\")" 0
redis-cli -s "$PWD/socket" flushall
redis-cli -s "$PWD/socket" shutdown nosave || true
wait $server'

echo "$ran programs, $faults faults"
[[ $ran -gt 0 ]] || exit 77
[[ $faults -eq 0 ]]
