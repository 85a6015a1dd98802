# One panel for each series, one below the other, all with the same time axis and scale. So no
# series hides another, and their sizes can be compared.

block = (label_lines + 2) * line_height
panel = greater(74, greater(block + 10, 220.0 / n))
head = 64
foot = 46
height = head + n * panel + foot
y_at(pixels) = 1 - pixels / real(height)
room = 28 + greater(168, words_size(0))
width = greater(width, left + 560 + room)
right = width - room

eval terminal(width, height)
set output '../'.name.'.'.format.part

set multiplot
set lmargin at screen x_at(left)
set rmargin at screen x_at(right)
set xrange [x_from:x_to]
set yrange [y_from_1:y_to_1]
set ytics round_step((y_to_1 - y_from_1) / 2.5)
set xtics format ''

set label 1 title at screen x_at(left), y_at(24) font 'DejaVu Sans,13' textcolor rgb ink
set label 2 subtitle at screen x_at(left), y_at(44) textcolor rgb faint
set label 3 y_label at screen x_at(20), y_at(head + n * panel / 2) center rotate textcolor rgb ink

do for [i = 1:n] {
    top = head + (i - 1) * panel
    set tmargin at screen y_at(top + 5)
    set bmargin at screen y_at(top + panel - 5)
    if (i == n) {
        set xtics format '%.10g'
        set xlabel x_label offset 0,0.3 textcolor rgb ink
    }
    from = top + (panel - block) / 2
    set label 4 label[i] at screen x_at(right + 14), y_at(from + 9) font 'DejaVu Sans Bold,10' textcolor rgb colour[i]
    set label 5 note[i] at screen x_at(right + 14), y_at(from + 13 + label_lines * line_height) textcolor rgb ink
    set label 6 steady[i] at screen x_at(right + 14), y_at(from + 28 + label_lines * line_height) font 'DejaVu Sans,8' textcolor rgb faint
    eval marks(i)
    plot sprintf('%s-reference-%d.dat', name, i) with lines linecolor rgb faint linewidth 0.8 dashtype 2, \
         sprintf('%s-series-%d.dat', name, i) with lines linecolor rgb colour[i] linewidth 1
    unset label
}
unset multiplot
set output
