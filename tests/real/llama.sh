#!/usr/bin/env bash
# llama.cpp in node: answers requests, three at once, each with a context of its own that is made and dropped
# again. See README.md for what check, prepare and run do.
# Usage: tests/real/llama.sh check | prepare DIR | run DIR; FRAGBENCH_REAL_SCALE=0.1 for less work
# shellcheck source-path=SCRIPTDIR source=node.bash
. "$(dirname "$0")/node.bash"

# node-llama-cpp loads its native part from a package of its own for each platform.
declare -A platforms=([x86_64]=linux-x64 [aarch64]=linux-arm64)
# shellcheck disable=SC2034 # used by node.bash
program=llama packages=(node-llama-cpp@3.21.1 "@node-llama-cpp/${platforms[$(uname -m)]:-linux-x64}@3.21.1")

models() { # FOLDER
    [[ -f $1/llama.gguf ]] || node "$here/llama-model.mjs" "$1/llama.gguf"
}

run() { # FOLDER
    exec node "$here/llama.mjs" "$1" "$(amount 30)"
}

main "$@"
