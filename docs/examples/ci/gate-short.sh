#!/bin/sh
# The gate in its shortest form. Each side is built and measured by its own bench/measure.sh.
set -eu
git worktree add --detach base "${1:-origin/main}"
(cd base && bench/measure.sh ../result-base)
bench/measure.sh result-new
"${FRAGBENCH:-fragbench}" compare base=result-base new=result-new --by sha256,tunables
