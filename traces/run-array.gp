# One quantity of all components of an array: their mean and the band that contains them over the
# whole run, each component's curve over the start-up, and how far each one still swings at the end.

height = 760
y_at(pixels) = 1 - pixels / real(height)

eval terminal(width, height)
set output '../'.name.'.'.format.part

set multiplot
set lmargin at screen x_at(left)
set rmargin at screen x_at(width - 34)

set label 1 title at screen x_at(left), y_at(24) font 'DejaVu Sans,13' textcolor rgb ink
set label 2 subtitle at screen x_at(left), y_at(44) textcolor rgb faint
set label 3 y_label at screen x_at(20), y_at(157) center rotate textcolor rgb ink
set label 4 y_label at screen x_at(20), y_at(403) center rotate textcolor rgb ink
set label 5 spread_label at screen x_at(20), y_at(635) center rotate textcolor rgb ink

set tmargin at screen y_at(64)
set bmargin at screen y_at(250)
set xrange [x_from[1]:x_to[1]]
set yrange [y_from_1:y_to_1]
set xlabel x_label[1] offset 0,0.3 textcolor rgb ink
set key at screen x_at(width - 24), y_at(44) right horizontal samplen 2 textcolor rgb ink
eval marks(1)
if (own) {
    plot for [i = 1:lines] sprintf('%s-whole-%d.dat', name, i) \
         with lines linecolor rgb map_hues[2] linewidth 0.6 title (i == 1 ? 'each '.each : '')
} else {
    plot name.'-band-1.dat' with filledcurves linecolor rgb map_hues[1] title 'all', \
         name.'-mean-1.dat' with lines linecolor rgb hues[6] title 'their mean'
}
unset label

set tmargin at screen y_at(310)
set bmargin at screen y_at(496)
set xrange [x_from[2]:x_to[2]]
set yrange [y_from_2:y_to_2]
set xlabel x_label[2]
set key at screen x_at(width - 24), y_at(296)
eval marks(2)
plot for [i = 1:lines] sprintf('%s-line-%d.dat', name, i) \
         with lines linecolor rgb map_hues[2] linewidth 0.6 title (i == 1 ? 'each '.each : ''), \
     (own ? '/dev/null' : name.'-mean-2.dat') with lines linecolor rgb hues[6] title (own ? '' : 'their mean')
unset label

unset arrow
unset object
tic = n > 40 ? round_step(n / 10.0) : 1
set tmargin at screen y_at(562)
set bmargin at screen y_at(708)
set xrange [-0.7:n - 0.3]
set yrange [0:spread_to]
set xtics tic
set grid noxtics
set xlabel sprintf('%s (swing from %.4g to %.4g s)', each, last_from, last_to)
set boxwidth 0.7
set key off
plot name.'-spread-1.dat' using 1:2 with boxes fillstyle solid linecolor rgb hues[2]
unset multiplot
set output
