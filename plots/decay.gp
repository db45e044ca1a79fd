# What stays after the last free: a line an allocator over the seconds that follow, points where it
# was measured, and at the right end what is left after a purge.
#   gnuplot -d -c plots/decay.gp DATA svg|png > PICTURE
# N[9] end of the axis, N[10] its top, N[11] lines, N[12] end of the idle time, N[13] of the
# heartbeat, N[14] the bottom.
data = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen("decay.gp")]
load here . "common.gp"
load here . "lines.gp"

set xrange [-0.02 * N[9]:N[9]]
set yrange [N[14]:N[10]]
set xtics out 0, 5, N[13]
set ytics out
above = 1 + 9.0 / (N[6] - N[5])
set label 30 "idle" at first N[12] / 2, graph above center font small textcolor rgb "#444444"
set label 31 "active" at first (N[12] + N[13]) / 2, graph above center font small \
    textcolor rgb "#444444"
set label 32 "purged" at first N[13] * 1.05, graph above center font small textcolor rgb "#444444"
set arrow from first N[12], graph 0 to first N[12], graph 1 nohead linecolor rgb "#9a9a9a" \
    linewidth 0.7 dashtype solid back
set arrow from first N[13], graph 0 to first N[13], graph 1 nohead linecolor rgb "#9a9a9a" \
    linewidth 0.7 dashtype solid back
if (N[14] < 0) {
    set arrow from graph 0, first 0 to graph 1, first 0 nohead linecolor rgb "#767676" linewidth 1
}
key_first = 1
key_last = N[11]
key_sample = "line"
load here . "key.gp"
plot for [i = 1:N[11]] data index "line ".i using 1:2 with steps linewidth 1.6 \
        linecolor rgb colour[i] dashtype i title legend[i] noenhanced, \
    for [i = 1:N[11]] data index "points ".i using 1:2 with points pointtype 7 pointsize 0.55 \
        linecolor rgb colour[i] title legend[i] noenhanced
