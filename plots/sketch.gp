# The curves as text: a letter an allocator, "." what is live.
#   gnuplot -d -c plots/sketch.gp DATA txt
# N[1] columns, N[2] rows of the drawing, N[3] end of the axis, N[4] its top, N[5] allocators.
set encoding utf8
set datafile separator "\t"
data = ARG1
array T[2]
array N[5]
array key[32]
array letter[32]
set table $discard
plot data index "texts" using (T[int(column(1))] = stringcolumn(2), 0):(0) with table
plot data index "numbers" using (N[int(column(1))] = column(2), 0):(0) with table
plot data index "keys" using (key[int(column(1))] = stringcolumn(2), \
    letter[int(column(1))] = stringcolumn(3), 0):(0) with table
unset table

set terminal dumb size N[1], N[2] + N[5] + 2 noenhanced
set lmargin 8
set rmargin 1
set tmargin 1
set bmargin N[5] + 2
set border 3
set xrange [0:N[3]]
set yrange [0:N[4]]
set tics nomirror
set ytics 0, N[4] > 0 ? N[4] : 1
set ytics autofreq
set label T[1] at screen 0, character N[2] + N[5] + 1 left noenhanced
do for [i = 1:N[5]] { set label key[i] at character 8, character N[5] - i left noenhanced }
plot data index "live" using 1:2 with points pointtype "." notitle, \
    for [i = 1:N[5]] data index "line ".i using 1:2 with points pointtype letter[i] notitle
