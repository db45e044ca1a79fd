#!/usr/bin/env bash
# The layer check itself: finds an upward include, a sideways one and an unqualified one.
# Usage: layers_self_check.sh PATH_OF_layers.sh
set -euo pipefail
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/src/base" "$tree/src/metrics" "$tree/src/harness" "$tree/allocators"

expect() { # STATUS TEXT: what the check must say of the tree as it is
    local status=0 out
    out=$("$1" "$tree") || status=$?
    if [[ $status -ne $2 || $out != *"$3"* ]]; then
        echo "expected status $2 and \"$3\", got $status: $out"
        exit 1
    fi
}

echo '#include "base/error.h"' >"$tree/src/metrics/a.c"
expect "$1" 0 "0 faults"
echo '#include "metrics/measure.h"' >"$tree/src/base/a.c"
expect "$1" 1 "base/ must not include"
rm "$tree/src/base/a.c"
echo '#include "metrics/measure.h"' >"$tree/src/harness/a.c"
expect "$1" 1 "harness/ must not include"
rm "$tree/src/harness/a.c"
echo '#include "error.h"' >"$tree/src/base/a.c"
expect "$1" 1 "qualify the include"
