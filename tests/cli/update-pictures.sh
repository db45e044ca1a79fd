#!/usr/bin/env bash
# Draws tests/data/plots/*.svg anew from the data beside them. Look at every picture before keeping it.
# The data are written by FB_UPDATE_KEPT=1 tests/unit/report/report_plot_test.
# Usage: update-pictures.sh
set -euo pipefail
cd "$(dirname "$0")/../data/plots"
for data in *.dat; do
    kind=${data%.dat}
    [[ $kind == sketch ]] && ending=txt || ending=svg
    LC_ALL=C.UTF-8 gnuplot -d -c "../../../plots/$kind.gp" "$data" "$ending" >"$kind.$ending"
done
