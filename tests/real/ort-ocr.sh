#!/usr/bin/env bash
# onnxruntime in node: an OCR service reads pages of many sizes on four threads, without onnxruntime's own
# arena; with it where ORT_ARENA=1. See README.md for what check, prepare and run do.
# Usage: tests/real/ort-ocr.sh check | prepare DIR | run DIR; FRAGBENCH_REAL_SCALE=0.1 for less work
# shellcheck source-path=SCRIPTDIR source=node.bash
. "$(dirname "$0")/node.bash"

# shellcheck disable=SC2034 # used by node.bash
program=ort-ocr packages=(onnxruntime-node@1.30.0)

models() { # FOLDER
    [[ -f $1/recognizer.onnx ]] || node "$here/ort-ocr-model.mjs" "$1"
}

run() { # FOLDER
    exec node "$here/ort-ocr.mjs" "$1" "$(amount 48)"
}

main "$@"
