# A histogram of each kind of measured time, all over one logarithmic axis.

panel = 74
room = 30 + greater(bold_size(label_letters), text_size(words_letters))
width = greater(width, left + 560 + room)
head = 64
foot = 30
height = head + n * panel + foot
y_at(pixels) = 1 - pixels / real(height)

eval terminal(width, height)
set output '../'.name.'.'.format.part

# The range of the values of all histograms, in whole decades.
x_from = 1e9
x_to = 1e-9
y_to = 1
do for [i = 1:n] {
    stats sprintf('%s-bars-%d.dat', name, i) using 1:3 nooutput
    if (STATS_min_x < x_from) { x_from = STATS_min_x }
    if (STATS_max_x > x_to) { x_to = STATS_max_x }
    if (STATS_max_y > y_to) { y_to = STATS_max_y }
}
x_from = 10 ** floor(log10(x_from) + 1e-9)
x_to = 10 ** (floor(log10(x_to) + 1e-9) + 1)

set multiplot
set logscale xy
set lmargin at screen x_at(left)
set rmargin at screen x_at(width - room)
set xrange [x_from:x_to]
set yrange [0.5:y_to * 2]
set xtics @time_tics_without_words
set ytics (1, '10³' 1e3, '10⁶' 1e6, '10⁹' 1e9)
set style fill solid

set label 1 title at screen x_at(left), y_at(24) font 'DejaVu Sans,13' textcolor rgb ink
set label 2 subtitle at screen x_at(left), y_at(44) textcolor rgb faint
set label 3 'count' at screen x_at(20), y_at(head + n * panel / 2) center rotate textcolor rgb ink

do for [i = 1:n] {
    top = head + (i - 1) * panel
    set tmargin at screen y_at(top + 5)
    set bmargin at screen y_at(top + panel - 5)
    if (i == n) {
        set xtics @time_tics
    }
    set label 4 value(sprintf('label_%d', i)) at graph 1.02, 0.80 font 'DejaVu Sans Bold,10' textcolor rgb hues[1]
    set label 5 value(sprintf('middle_%d', i)) at graph 1.02, 0.48 textcolor rgb ink
    set label 6 value(sprintf('tail_%d', i)) at graph 1.02, 0.20 textcolor rgb ink
    plot sprintf('%s-bars-%d.dat', name, i) using 1:3:1:2:(0.5):3 with boxxyerror linecolor rgb hues[1]
    unset label
}
unset multiplot
set output
