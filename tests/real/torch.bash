# shellcheck shell=bash
# What the PyTorch programs share; sourced by torch-KIND.sh, which becomes torch_serve.py KIND. One BLAS thread:
# the request threads are the only ones.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"

check() {
    need_module torch "python3-torch libopenblas0-pthread"
}

run() {
    local kind
    kind=$(basename "$0" .sh)
    export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
    # shellcheck disable=SC2154 # common.bash's
    exec "$python" "$here/torch_serve.py" "${kind#torch-}" "$scale"
}

main "$@"
