#!/usr/bin/env bash
# Python objects of many sizes, of which one in ten survives, then larger buffers, held for a moment: holes between
# survivors.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

check() {
    need "$python" python3
}

run() {
    exec_python '
import random, sys, time
random.seed(1)
kept = {}
for i in range(int(sys.argv[1])):
    kept[i] = [bytes(random.randrange(20, 3000)) for _ in range(2)]
    if i % 3 == 0:
        kept.pop(random.choice(range(max(0, i - 999), i + 1)), None)
kept = {k: v for k, v in kept.items() if k % 10 == 0}
more = [bytearray(random.randrange(1000, 200000)) for _ in range(int(sys.argv[1]) // 60)]
time.sleep(0.3)
print(len(kept), len(more))' "$(times 60000)"
}

main "$@"
