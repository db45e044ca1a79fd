# A result against an older one: a mark a cell, and the band that does not count.
#   gnuplot -d -c plots/change.gp DATA svg|png > PICTURE
# N[9] end of the axis to both sides, N[10] half the band, both in per cent; N[11] rows.
data = ARG1
format = ARG2
here = ARG0[1:strlen(ARG0) - strlen("change.gp")]
load here . "common.gp"

set border 1
set grid noytics
set grid xtics linecolor rgb "#e2e2e2" linetype 1 linewidth 0.6 dashtype solid back
set xrange [-N[9]:N[9]]
set yrange [N[11] + 0.75:0.25]
set xtics out
set format x "%+g"
set xtics add ("0" 0)
unset ytics
unset key
set object 1 rectangle from first -N[10], graph 0 to first N[10], graph 1 fillcolor rgb "#e4e4e4" \
    fillstyle solid 1.0 noborder back
set arrow from first 0, graph 0 to first 0, graph 1 nohead linecolor rgb "#767676" linewidth 1
plot data index "rows" using 2:1:3:4:5 with xerrorbars pointtype 7 pointsize 0.8 \
        linecolor rgb variable title T[1] noenhanced, \
    data index "rows" using (-N[9]):1:6 with labels right offset character -1, 0 noenhanced \
        title T[1] noenhanced, \
    data index "rows" using (N[9]):1:7 with labels left offset character 1, 0 font small \
        noenhanced title T[1] noenhanced
