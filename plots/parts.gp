# Where the bytes of a footprint are: stacked bars.
#   gnuplot -d -c plots/parts.gp DATA svg|png > PICTURE
# N[9] end of the axis, N[10] bars, N[11] parts in the legend.
data = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen("parts.gp")]
load here . "common.gp"
load here . "lines.gp"

set border 1
set grid noytics
set grid xtics linecolor rgb "#e2e2e2" linetype 1 linewidth 0.6 dashtype solid back
set xrange [0:N[9]]
set yrange [N[10] + 0.6:0.4] noextend
set xtics out
unset ytics
key_first = 1
key_last = N[11]
key_sample = "area"
key_columns = 2
key_left = 16
load here . "key.gp"
set style fill solid 1.0 border rgb "#ffffff"
plot data index "segments" using 2:1:2:3:($1 - 0.38):($1 + 0.38):4 with boxxyerror \
        linecolor rgb variable linewidth 0.8 title T[1] noenhanced, \
    data index "segments" using (($2 + $3) / 2):1:5:6 with labels center font small \
        textcolor rgb variable noenhanced \
        title T[1] noenhanced, \
    data index "rows" using (0):1:3 with labels right offset character -1, 0 noenhanced \
        title T[1] noenhanced, \
    data index "rows" using 2:1:4 with labels left offset character 0.8, 0 noenhanced \
        title T[1] noenhanced
