# The dataset "lines": colour, dash and legend of line i; its dash type has the same number.
# And what key.gp begins with.
array colour[32]
array legend[32]
array dash1[32]; array dash2[32]; array dash3[32]; array dash4[32]
do for [i = 1:32] {
    colour[i] = 0; legend[i] = ""
    dash1[i] = 0; dash2[i] = 0; dash3[i] = 0; dash4[i] = 0
}
keep(i) = (colour[i] = int(column(2)), dash1[i] = column(3), dash2[i] = column(4), \
    dash3[i] = column(5), dash4[i] = column(6), legend[i] = stringcolumn(7), 0)
set table $discard
plot data index "lines" using (keep(int(column(1)))):(0) with table
unset table
do for [i = 1:32] {
    if (dash1[i] == 0) { set dashtype i solid } else {
    if (dash3[i] == 0) { set dashtype i + 0 (dash1[i], dash2[i]) } else {
    set dashtype i + 0 (dash1[i], dash2[i], dash3[i], dash4[i]) } }
}

key_columns = 1
key_left = N[3]
