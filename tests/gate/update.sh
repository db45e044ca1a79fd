#!/usr/bin/env bash
# Measures the gate's baseline anew: after a change that is meant to move figures, or on another system.
# Look at what own.sh says first, and at the difference afterwards: it is part of the commit.
# Usage: [FRAGBENCH=path] [BASELINE=folder] tests/gate/update.sh
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

for part in "${parts[@]}"; do
    measure "$part"
    jq -e 'all(.cells[]; .status == "ok" and .layout == "fixed") and .host.statm_exact' \
        "$work/$part/result.json" >/dev/null || {
        echo "update.sh: not every allocator is there, or this machine has no exact cells" \
            "(fragbench doctor); nothing was changed" >&2
        exit 1
    }
done
for part in "${parts[@]}"; do
    mkdir -p "$baseline/$part"
    # The folders of this machine's build are nobody else's.
    sed "s|$(dirname "$fragbench")/|build/release/bin/|g; s|$work/|results/gate/|g" \
        "$work/$part/result.json" >"$baseline/$part/result.json"
    echo "$baseline/$part/result.json: $(jq '.cells | length' "$work/$part/result.json") cells"
done
