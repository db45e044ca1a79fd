# RSS over time: one line an allocator over the grey area of live bytes.
#   gnuplot -d -c plots/rss.gp DATA svg|png > PICTURE
data = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen("rss.gp")]
load here . "common.gp"
load here . "lines.gp"
load here . "time.gp"

set yrange [0:N[10]]
key_first = 2
key_last = N[11] + 1
key_sample = "line"
load here . "key.gp"
outline = colour[1]
colour[1] = 0xdddddd
key_first = 1
key_last = 1
key_sample = "area"
load here . "key.gp"
plot data index "live" using 1:2 with filledcurves closed fill solid 1.0 noborder \
        linecolor rgb colour[1] title legend[1] noenhanced, \
    data index "live" using 1:2 with lines linecolor rgb outline linewidth 1 \
        title legend[1] noenhanced, \
    for [i = 1:N[11]] data index "line ".i using 1:2 with steps linewidth 1.6 \
        linecolor rgb colour[i + 1] dashtype i + 1 title legend[i + 1] noenhanced
