# RSS over time: one line an allocator over the grey area of live bytes.
#   gnuplot -d -c plots/rss.gp DATA svg|png > PICTURE
data = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen("rss.gp")]
load here . "common.gp"
load here . "time.gp"

set yrange [0:N[10]]
set key at screen px(N[3] - 10), screen py(N[7] + 4) left top Left reverse vertical maxrows 20 \
    samplen 3 spacing 1.13
plot data index "live" using 1:2 with filledcurves y1=0 fill solid 1.0 noborder linecolor rgb "#dddddd" \
        title legend[1], \
    data index "live" using 1:2 with lines linecolor rgb colour[1] linewidth 1 notitle, \
    for [i = 1:N[11]] data index "line ".i using 1:2 with steps linewidth 1.6 \
        linecolor rgb colour[i + 1] dashtype i + 1 title legend[i + 1]
