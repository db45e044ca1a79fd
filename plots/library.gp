# A map of a metric: workloads down, allocators across, the number in each cell.
#   gnuplot -d -c plots/library.gp DATA svg|png > PICTURE
# N[9] rows, N[10] columns, N[11] 1 where the columns' names are slanted.
data = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen("library.gp")]
load here . "common.gp"

unset border
unset tics
unset grid
unset key
set xrange [0.5:N[10] + 0.5]
set yrange [N[9] + 0.5:0.5]
slant = N[11] == 1 ? 60 : 0
array column_name[N[10]]
set table $discard
plot data index "columns" using (column_name[int(column(1))] = stringcolumn(2), 0):(0) with table
unset table
above = 1 + 9.0 / (N[6] - N[5])
do for [i = 1:N[10]] {
    if (slant > 0) {
        set label (40 + i) column_name[i] at first i, graph above left rotate by slant \
            font small noenhanced
    } else {
        set label (40 + i) column_name[i] at first i, graph above center noenhanced
    }
}
# A gap, not a border: half the size of the file.
set style fill solid 1.0 noborder
plot data index "cells" using 1:2:($1 - 0.496):($1 + 0.496):($2 - 0.475):($2 + 0.475):3 with boxxyerror \
        linecolor rgb variable linewidth 1 title T[1] noenhanced, \
    data index "cells" using 1:2:4:5 with labels center font small textcolor rgb variable \
        noenhanced \
        title T[1] noenhanced, \
    data index "rows" using (0.5):1:2 with labels right offset character -1, 0 noenhanced \
        title T[1] noenhanced
