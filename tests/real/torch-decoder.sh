#!/usr/bin/env bash
# PyTorch, see torch_serve.py. One BLAS thread: the request threads are the only ones.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

check() {
    need_module torch "python3-torch libopenblas0-pthread"
}

run() {
    export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
    exec "$python" "$here/torch_serve.py" decoder "$scale"
}

main "$@"
