# The axis of time and the phases on it, for rss.gp and ratio.gp: N[9] is the end of the axis, N[11]
# the number of lines, N[12] that of phases.
# A little room on the left, so that what happens at once is not drawn on the axis.
set xrange [-0.01 * N[9]:N[9] * 1.005]
set xtics out
set ytics out

# A phase's beginning is a thin line; its name stands above the drawing, in a row with room.
array start[N[12] + 1]
array row[N[12] + 1]
array ends[N[12] + 1]
array name[N[12] + 1]
set table $discard
plot data index "phases" using (start[$0 + 1] = column(1), row[$0 + 1] = column(2), \
    ends[$0 + 1] = column(3), name[$0 + 1] = stringcolumn(4), 0):(0) with table
unset table
do for [i = 1:N[12]] {
    x = start[i]
    top = 1 + (row[i] < 0 ? 0 : (11 + 15 * row[i]) / (N[6] - N[5]))
    set arrow from first x, graph 0 to first x, graph top nohead linecolor rgb "#9a9a9a" \
        linewidth 0.7 dashtype solid back
    if (row[i] >= 0 && ends[i] == 0) {
        set label name[i] at first x, graph top left offset character 0.4, -0.2 font small \
            textcolor rgb "#444444" noenhanced
    }
    if (row[i] >= 0 && ends[i] == 1) {
        set label name[i] at first x, graph top right offset character -0.4, -0.2 font small \
            textcolor rgb "#444444" noenhanced
    }
}
