#!/usr/bin/env bash
# Eight Python threads that hand buffers to each other through a queue: most are freed by another thread.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

check() {
    need "$python" python3
}

run() {
    exec_python '
import queue, sys, threading, time
handed = queue.Queue()
def work(number, count):
    for i in range(count):
        handed.put(bytearray(1000 + i * number % 150000))
        if i % 3:
            handed.get()
crew = [threading.Thread(target=work, args=(number, int(sys.argv[1]))) for number in range(8)]
[thread.start() for thread in crew]
[thread.join() for thread in crew]
time.sleep(0.3)
print(handed.qsize())' "$(times 2500)"
}

main "$@"
