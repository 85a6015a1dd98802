# All series in one plot, the widest band first, so that narrower ones lie on top. While there is
# room, each series' outcome stands beside its name; with many series only the panels show it.

few = n <= 12
each = label_lines * line_height + (few ? line_height + 16 : 4)
height = greater(520, 136 + n * each)
y_at(pixels) = 1 - pixels / real(height)
room = 28 + greater(168, words_size(0))
width = greater(width, left + 560 + room)
right = width - room

eval terminal(width, height)
set output '../'.name.'.'.format.part

set lmargin at screen x_at(left)
set rmargin at screen x_at(right)
set tmargin at screen y_at(64)
set bmargin at screen y_at(height - 54)
set xrange [x_from:x_to]
set yrange [y_from_1:y_to_1]

set label 1 title at screen x_at(left), y_at(24) font 'DejaVu Sans,13' textcolor rgb ink
set label 2 subtitle at screen x_at(left), y_at(44) textcolor rgb faint
set xlabel x_label offset 0,0.3 textcolor rgb ink
set label 3 y_label at screen x_at(20), y_at((64 + height - 54) / 2) center rotate textcolor rgb ink
do for [i = 1:n] {
    at = 76 + (i - 1) * each
    set label 10 + 2 * i label[i] at screen x_at(right + 16), y_at(at) font 'DejaVu Sans Bold,10' textcolor rgb colour[i]
    if (few) { set label 11 + 2 * i note[i] at screen x_at(right + 16), y_at(at + 3 + label_lines * line_height) textcolor rgb ink }
}
plot for [i = 1:n] sprintf('%s-reference-%d.dat', name, i) \
     with lines linecolor rgb faint linewidth 0.8 dashtype 2, \
     for [i = 1:n] sprintf('%s-series-%d.dat', name, order[i]) \
     with lines linecolor rgb colour[order[i]] linewidth 1
set output
