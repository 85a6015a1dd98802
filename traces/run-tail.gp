# The tail of each kind of measured time: the share of samples that are longer than a given time.
# Both axes are logarithmic.

height = 560
room = 42 + greater(168, text_size(label_letters))
width = greater(width, left + 560 + room)
y_at(pixels) = 1 - pixels / real(height)

eval terminal(width, height)
set output '../'.name.'.'.format.part

set logscale xy
set lmargin at screen x_at(left)
set rmargin at screen x_at(width - room)
set tmargin at screen y_at(64)
set bmargin at screen y_at(height - 54)
set yrange [*:1.5]
set xtics @time_tics
set ytics @share_tics

set label 1 title at screen x_at(left), y_at(24) font 'DejaVu Sans,13' textcolor rgb ink
set label 2 subtitle at screen x_at(left), y_at(44) textcolor rgb faint
set label 3 'share that took as long or longer' at screen x_at(20), y_at((64 + height - 54) / 2) center rotate textcolor rgb ink
set key at screen x_at(width - room + 10), y_at(64) left top Left reverse samplen 2.5 spacing 1.3 textcolor rgb ink

# A colour for each array of nodes, in their order. Round trips are grey.
dash(label) = strstrt(label, 'late') ? 1 : strstrt(label, 'step') ? 2 : strstrt(label, 'period') ? 3 : strstrt(label, 'age') ? 4 : 5
hue(i) = value(sprintf('node_%d', i)) > 0 ? hues[1 + (value(sprintf('node_%d', i)) - 1) % 8] : ink
plot for [i = 1:n] sprintf('%s-tail-%d.dat', name, i) with steps linewidth 1.4 \
     dashtype dash(value(sprintf('label_%d', i))) linecolor rgb hue(i) \
     title value(sprintf('label_%d', i))
set output
