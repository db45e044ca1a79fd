#!/usr/bin/env bash
# llama.cpp in node: answers requests, three at once, each in a context that is made for it and dropped, see
# llama.mjs.
# shellcheck source-path=SCRIPTDIR source=node.bash
. "$(dirname "$0")/node.bash"

# The native part of node-llama-cpp is a package of its own for each machine.
machine=$(uname -m)
[[ $machine == aarch64 ]] && machine=arm64 || machine=x64
# shellcheck disable=SC2034 # used by node.bash
packages=(node-llama-cpp@3.21.1 "@node-llama-cpp/linux-$machine@3.21.1")

models() { # FOLDER
    [[ -f $1/llama.gguf ]] || node "$here/llama-model.mjs" "$1/llama.gguf"
}

# It reserves buffers of which it writes a part.
record_options() {
    echo --fresh-pages
}

run() { # FOLDER
    start "$1" llama.mjs "$(times 30)"
}

main "$@"
