# A grid of panels for many series, each below its own caption, all with the same time axis and
# scale. A sweep over two keys makes a table: a row for each value of the first key, and a column
# for each value of the second.

block = (label_lines + 2) * line_height + 6
panel = 74 + block
cell = greater(190, 16 + words_size(0))
head = 60
foot = 46
rows = int(ceil(real(n) / columns))
height = head + rows * panel + foot
y_at(pixels) = 1 - pixels / real(height)
width = greater(width, left + columns * cell + 12)
cell = (width - left - 12) / columns

eval terminal(width, height)
set output '../'.name.'.'.format.part

set multiplot
set xrange [x_from:x_to]
set yrange [y_from_1:y_to_1]
set ytics round_step((y_to_1 - y_from_1) / 2.5)
set xtics round_step((x_to - x_from) / 2.5)

set label 1 title at screen x_at(left), y_at(24) font 'DejaVu Sans,13' textcolor rgb ink
set label 2 subtitle at screen x_at(left), y_at(44) textcolor rgb faint
set label 3 y_label at screen x_at(20), y_at(head + rows * panel / 2) center rotate textcolor rgb ink

do for [i = 1:n] {
    row = (i - 1) / columns
    column = (i - 1) % columns
    top = head + row * panel
    from = left + column * cell
    set tmargin at screen y_at(top + block + 4)
    set bmargin at screen y_at(top + panel - 8)
    set lmargin at screen x_at(from)
    set rmargin at screen x_at(from + cell - 16)
    if (column == 0) { set ytics format '%.8g' } else { set ytics format '' }
    if (i > n - columns) {
        set xtics format '%.10g'
        set xlabel x_label offset 0,0.3 textcolor rgb ink
    } else {
        set xtics format ''
        unset xlabel
    }
    set label 4 label[i] at screen x_at(from), y_at(top + 16) font 'DejaVu Sans Bold,10' textcolor rgb colour[i]
    set label 5 note[i] at screen x_at(from), y_at(top + 18 + label_lines * line_height) textcolor rgb ink
    set label 6 steady[i] at screen x_at(from), y_at(top + 32 + label_lines * line_height) font 'DejaVu Sans,8' textcolor rgb faint
    eval marks(i)
    plot sprintf('%s-reference-%d.dat', name, i) with lines linecolor rgb faint linewidth 0.8 dashtype 2, \
         sprintf('%s-series-%d.dat', name, i) with lines linecolor rgb colour[i] linewidth 1
    unset label
}
unset multiplot
set output
