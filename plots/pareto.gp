# Memory against time: a mark an allocator, of one workload or over many.
#   gnuplot -d -c plots/pareto.gp DATA svg|png > PICTURE
# N[9], N[10] ends of the axis of time, N[11], N[12] of memory, N[13] allocators, N[14] 1: times on
# a logarithmic axis, N[15] 1: over many workloads, both axes logarithmic.
data = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen("pareto.gp")]
load here . "common.gp"
load here . "lines.gp"

set xrange [N[9]:N[10]]
set yrange [N[11]:N[12]]
set grid xtics
set tics out
if (N[14] == 1) { set logscale x }
if (N[15] == 1) { set logscale y }
if (N[14] == 1 && N[10] / N[9] < 2000) {
    set xtics add (1, 1.5, 2, 3, 5, 7, 10, 20, 30, 50, 100, 200, 300, 500)
}
if (N[15] == 1 && N[12] / N[11] < 2000) {
    set ytics add (1, 1.2, 1.5, 2, 3, 5, 7, 10, 20, 30, 50, 100, 200, 300, 500)
}
array marks[12] = [7, 5, 9, 13, 11, 15, 6, 4, 8, 12, 10, 14]
key_first = 1
key_last = N[13]
key_sample = "point"
load here . "key.gp"
if (N[15] == 1) {
    plot for [i = 1:N[13]] data index "points ".i using 1:2 with points pointtype marks[i] \
            pointsize 0.4 linecolor rgb colour[i] title legend[i] noenhanced, \
        data index "means" using 1:2 with points pointtype 7 pointsize 2.1 \
            linecolor rgb "#ffffff" title T[1] noenhanced, \
        for [i = 1:N[13]] data index "means" using 1:($3 == i ? $2 : NaN) with points \
            pointtype marks[i] pointsize 1.5 linecolor rgb colour[i] title legend[i] noenhanced
} else {
    plot data index "front" using 1:2 with lines linecolor rgb "#9a9a9a" \
            linewidth 1 title T[1] noenhanced, \
        for [i = 1:N[13]] data index "points" using 1:($7 == i ? $2 : NaN):3:4:5:6 \
            with xyerrorbars pointtype marks[i] pointsize 1.2 linecolor rgb colour[i] \
            title legend[i] noenhanced
}
