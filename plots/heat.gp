# Page maps: a panel an allocator, a cell a group of pages.
#   gnuplot -d -c plots/heat.gp DATA svg|png > PICTURE
# N[9] panels, N[10] of them side by side, N[11] width of one, N[12] of a cell, N[13] height of a
# panel's head and N[14] of its cells, all in pixels; N[15] cells a row, N[16] shades, N[17] rows.
data = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen("heat.gp")]
load here . "common.gp"
load here . "lines.gp"

array head[N[9]]
array numbers[N[9]]
set table $discard
plot data index "panels" using (head[int(column(1))] = stringcolumn(2), \
    numbers[int(column(1))] = stringcolumn(3), 0):(0) with table
unset table

# One drawing in pixels for all of it.
set lmargin at screen 0
set rmargin at screen 1
set tmargin at screen 1
set bmargin at screen 0
set xrange [0:W]
set yrange [H:0]
unset border
unset tics
unset grid
panel_x(i) = N[3] + ((i - 1) % int(N[10])) * (N[11] + 16)
panel_y(i) = N[5] + floor((i - 1) / N[10]) * (N[13] + N[14] + 10) + N[13]
do for [i = 1:N[9]] {
    set label (40 + i) head[i] at first panel_x(i), first panel_y(i) - 24 noenhanced
    set label (60 + i) numbers[i] at first panel_x(i), first panel_y(i) - 9 font small \
        textcolor rgb "#444444" noenhanced
}
key_first = 1
key_last = N[16]
key_sample = "area"
key_columns = 4
key_left = 16
load here . "key.gp"
set style fill solid 1.0 noborder
plot for [i = 1:N[9]] data index "cells ".i \
    using (panel_x(i) + $1 * N[12]):(panel_y(i) + $3 * N[12]):(panel_x(i) + $1 * N[12]): \
    (panel_x(i) + $2 * N[12]):(panel_y(i) + $3 * N[12]):(panel_y(i) + ($3 + 1) * N[12] + 0.3):4 \
    with boxxyerror linecolor rgb variable title head[i] noenhanced
