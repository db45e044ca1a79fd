#!/usr/bin/env bash
# onnxruntime in node: an OCR service that reads pages of many sizes on four threads, see ort-ocr.mjs. Without
# onnxruntime's own arena, which would hide the allocator; ORT_ARENA=1 has it.
# shellcheck source-path=SCRIPTDIR source=node.bash
. "$(dirname "$0")/node.bash"

# shellcheck disable=SC2034 # used by node.bash
packages=(onnxruntime-node@1.30.0)

models() { # FOLDER
    [[ -f $1/recognizer.onnx ]] || node "$here/ort-ocr-model.mjs" "$1"
}

run() { # FOLDER
    start "$1" ort-ocr.mjs "$(times 48)"
}

main "$@"
