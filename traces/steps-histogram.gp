# Histograms of how late and how long the steps were, and of the round trips. The count's axis is logarithmic, so that one
# step in a million is visible.

panel = 200
head = 64
foot = 6
panels = 2 + rounds
height = head + panels * panel + foot
y_at(pixels) = 1 - pixels / real(height)

longest = 0
do for [i = 1:n] { longest = greater(longest, strlen(label[i])) }
beside = greater(110, 20 + bold_size(longest))
width = width + beside - 110

eval terminal(width, height)
set output '../'.name.'.'.format.part

array series[3] = ['late', 'step', 'round']
array words[3] = ['lateness', 'length', 'round trips']

# The round trips have one histogram, of all arrays.
count(k) = k == 3 ? 1 : n

# Both histograms share an axis. `stats` must come before the range is set, or it would ignore the
# values outside.
x_to = 1
do for [k = 1:panels] { do for [i = 1:count(k)] {
    stats sprintf('%s-%s-%d.dat', name, series[k], i) using 2 nooutput
    if (STATS_max > x_to) { x_to = STATS_max }
} }

set multiplot
set logscale xy
set lmargin at screen x_at(left)
set rmargin at screen x_at(width - beside)
set yrange [0.5:*]
set ytics (1, 10, 100, '10³' 1e3, '10⁴' 1e4, '10⁵' 1e5, '10⁶' 1e6, '10⁷' 1e7, '10⁸' 1e8)
set xtics @time_tics
set xrange [1e-3:x_to * 1.5]
set style fill transparent solid 0.45 noborder

set label 1 title at screen x_at(left), y_at(24) font 'DejaVu Sans,13' textcolor rgb ink
set label 2 subtitle at screen x_at(left), y_at(44) textcolor rgb faint

do for [k = 1:panels] {
    top = head + (k - 1) * panel
    set tmargin at screen y_at(top + 8)
    set bmargin at screen y_at(top + panel - 34)
    set ylabel (k == 3 ? 'round trips' : 'steps') offset 1,0 textcolor rgb ink
    set label 3 words[k] at graph 1.02, 0.92 font 'DejaVu Sans Bold,10' textcolor rgb ink
    do for [i = 1:count(k)] {
        set label 3 + i sprintf('%s', k == 3 ? 'of all' : label[i]) at graph 1.02, 0.92 - 0.1 * i textcolor rgb hues[i]
    }
    plot for [i = 1:count(k)] sprintf('%s-%s-%d.dat', name, series[k], i) \
        using 1:3:1:2:(0.5):3 with boxxyerror linecolor rgb hues[i]
    unset label
}
unset multiplot
set output
