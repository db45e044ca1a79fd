# RSS over live bytes, over time: one line an allocator; 1 is no waste at all.
#   gnuplot -d -c plots/ratio.gp DATA svg|png > PICTURE
data = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen("ratio.gp")]
load here . "common.gp"
load here . "lines.gp"
load here . "time.gp"

if (N[14] == 1) {
    set logscale y
    set ytics (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, \
        2000, 5000, 10000)
}
set yrange [N[13]:N[10]]
set arrow from graph 0, first 1 to graph 1, first 1 nohead linecolor rgb "#767676" linewidth 1
key_first = 1
key_last = N[11]
key_sample = "line"
load here . "key.gp"
plot for [i = 1:N[11]] data index "line ".i using 1:2 with steps linewidth 1.6 \
    linecolor rgb colour[i] dashtype i title legend[i] noenhanced
