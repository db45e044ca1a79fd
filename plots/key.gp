# Entries key_first to key_last of the key below the drawing, with samples of the kind key_sample:
# "line", "area" or "point". gnuplot's own key breaks into columns that run out of the picture.
# Entries stand in key_columns columns from key_left on.
key_x(i) = key_left + ((i - 1) % key_columns) * (W - key_left - 16) / (1.0 * key_columns)
key_y(i) = N[7] + 9 + 17 * ((i - 1) / key_columns)
key_gap = (key_sample eq "line") ? 42 : (key_sample eq "area") ? 30 : 20
do for [i = key_first:key_last] {
    x = key_x(i)
    y = key_y(i)
    if (key_sample eq "line") {
        set arrow 100 + i from screen px(x), screen py(y) to screen px(x + 34), screen py(y) \
            nohead linecolor rgb colour[i] dashtype i linewidth 1.6
    }
    if (key_sample eq "area") {
        set object 100 + i rectangle from screen px(x), screen py(y - 5) \
            to screen px(x + 22), screen py(y + 6) fillcolor rgb colour[i] \
            fillstyle solid 1.0 border rgb "#9a9a9a" linewidth 0.5
    }
    if (key_sample eq "point") {
        set label 100 + i "" at screen px(x + 6), screen py(y) point pointtype marks[i] \
            pointsize 1.2 linecolor rgb colour[i]
    }
    set label 140 + i legend[i] at screen px(x + key_gap), screen py(y) left noenhanced
}
