# The tail of each time that was measured: the share of them that is longer, both logarithmic.

height = 560
y_at(pixels) = 1 - pixels / real(height)

eval terminal(width, height)
set output '../'.name.'.'.format

set logscale xy
set lmargin at screen x_at(76)
set rmargin at screen x_at(width - 210)
set tmargin at screen y_at(64)
set bmargin at screen y_at(height - 54)
set yrange [*:1.5]
set xlabel 'time (µs)' offset 0,0.3 textcolor rgb ink
set xtics format '%g'
set ytics ('100%%' 1, '10%%' 1e-1, '1%%' 1e-2, '0.1%%' 1e-3, '0.01%%' 1e-4, '0.001%%' 1e-5, '10⁻⁶' 1e-6, '10⁻⁷' 1e-7, '10⁻⁸' 1e-8)

set label 1 title at screen x_at(76), y_at(24) font 'DejaVu Sans,13' textcolor rgb ink
set label 2 subtitle at screen x_at(76), y_at(44) textcolor rgb pale
set key at screen x_at(width - 200), y_at(64) left top Left reverse samplen 2.5 spacing 1.3 textcolor rgb ink

# The controller's in blue, the converters' in orange, what is of both in grey.
dash(label) = strstrt(label, 'late') ? 1 : strstrt(label, 'step') ? 2 : strstrt(label, 'period') ? 3 : 4
hue(label) = strstrt(label, 'controller') ? '#2b7bba' : strstrt(label, 'converters') ? '#cf4f0b' : ink
plot for [i = 1:n] sprintf('%s-tail-%d.dat', name, i) with steps linewidth 1.4 \
     dashtype dash(value(sprintf('label_%d', i))) linecolor rgb hue(value(sprintf('label_%d', i))) \
     title value(sprintf('label_%d', i))
set output
