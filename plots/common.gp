# What every template begins with: reads the data file's texts and numbers, sets the terminal and
# the frame. A template sets `data` and `format` and loads this.
#
# Texts come from strangers (names of workloads and allocators): they are read from the data file
# into T[], never put into a command, and drawn with noenhanced.

set encoding utf8
set datafile separator "\t"
set datafile missing "NaN"
array T[12]
do for [i = 1:12] { T[i] = "" }
array N[40]
do for [i = 1:40] { N[i] = 0 }
set table $discard
plot data index "texts" using (T[int(column(1))] = stringcolumn(2), 0):(0) with table
plot data index "numbers" using (N[int(column(1))] = column(2), 0):(0) with table
unset table

# The frame, in pixels from the top left corner; the picture's own numbers follow.
W = N[1]; H = N[2]
px(p) = p / W
py(p) = 1 - p / H

if (format eq "png") {
    set terminal pngcairo size W, H font "sans,9.5" background "#ffffff"
} else {
    set terminal svg size W, H font "sans-serif,12.5" background "#ffffff" name "fragbench"
}
small = (format eq "png") ? "sans,8.5" : "sans-serif,11"
big = (format eq "png") ? "sans,11.5" : "sans-serif,15"

set lmargin at screen px(N[3])
set rmargin at screen 1 - px(N[4])
set tmargin at screen py(N[5])
set bmargin at screen py(N[6])
set border 3 linecolor rgb "#555555"
set tics nomirror textcolor rgb "#222222"
set grid ytics linecolor rgb "#e2e2e2" linetype 1 linewidth 0.6 dashtype solid
set label 1 T[1] at screen px(16), screen py(20) font big noenhanced
set label 2 T[2] at screen px(16), screen py(40) font small textcolor rgb "#555555" noenhanced
# Above the key, which gnuplot's own place for it, a matter of fonts, would run into.
set label 4 T[3] at screen (px(N[3]) + 1 - px(N[4])) / 2, screen py(N[7] - 14) center noenhanced
set label 3 T[4] at screen px(16), screen py((N[5] + N[6]) / 2) center rotate by 90 noenhanced
do for [i = 1:8] {
    set label (10 + i) T[4 + i] at screen px(16), screen py(N[8] + 8 + 15 * (i - 1)) font small \
        textcolor rgb "#444444" noenhanced
}
# A plot's title is what a browser shows over it; the visible key is key.gp's.
unset key
