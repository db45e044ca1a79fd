# RSS over live bytes, over time: one line an allocator; 1 is no waste at all.
#   gnuplot -d -c plots/ratio.gp DATA svg|png > PICTURE
data = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen("ratio.gp")]
load here . "common.gp"
load here . "time.gp"

if (N[14] == 1) { set logscale y }
set yrange [N[13]:N[10]]
set arrow from graph 0, first 1 to graph 1, first 1 nohead linecolor rgb "#767676" linewidth 1
set key at screen px(N[3] - 10), screen py(N[7] + 4) left top Left reverse vertical maxrows 20 \
    samplen 3 spacing 1.13
plot for [i = 1:N[11]] data index "line ".i using 1:2 with steps linewidth 1.6 \
    linecolor rgb colour[i] dashtype i title legend[i]
