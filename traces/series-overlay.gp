# All series over one another, the widest band first, so that each smaller one lies on top.

height = n < 9 ? 520 : 136 + n * 48
y_at(pixels) = 1 - pixels / real(height)
longest = 0
do for [i = 1:n] { if (strlen(label[i]) > longest) { longest = strlen(label[i]) } }
right = width - room_for(longest)

eval terminal(width, height)
set output '../'.name.'.'.format

set lmargin at screen x_at(76)
set rmargin at screen x_at(right)
set tmargin at screen y_at(64)
set bmargin at screen y_at(height - 54)
set xrange [x_from:x_to]
set yrange [y_from_1:y_to_1]

set label 1 title at screen x_at(76), y_at(24) font 'DejaVu Sans,13' textcolor rgb ink
set label 2 subtitle at screen x_at(76), y_at(44) textcolor rgb pale
set xlabel x_label offset 0,0.3 textcolor rgb ink
set label 3 y_label at screen x_at(20), y_at((64 + height - 54) / 2) center rotate textcolor rgb ink
do for [i = 1:n] {
    at = y_at(76 + (i - 1) * 48)
    set label 10 + 2 * i label[i] at screen x_at(right + 16), at font 'DejaVu Sans Bold,10' textcolor rgb colour[i]
    set label 11 + 2 * i note[i] at screen x_at(right + 16), at - 18.0 / height textcolor rgb ink
}
plot reference with lines linecolor rgb pale linewidth 0.8 dashtype 2, \
     for [i = 1:n] sprintf('%s-series-%d.dat', name, order[i]) \
     with lines linecolor rgb colour[order[i]] linewidth 1
set output
