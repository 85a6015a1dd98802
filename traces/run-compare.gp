# Compares two runs: a row for each signal, with both values on the left and their difference on the
# right.

head = 84
foot = 46
each = 150
gap = 80
height = head + n * each + foot
width = greater(width, 1000)
y_at(pixels) = 1 - pixels / real(height)
half = (width - left - gap - 34) / 2

eval terminal(width, height)
set output '../'.name.'.'.format.part

set multiplot
set key off
set label 1 title at screen x_at(left), y_at(22) font 'DejaVu Sans,11' textcolor rgb hues[1]
set label 2 subtitle at screen x_at(left), y_at(40) font 'DejaVu Sans,11' textcolor rgb hues[2]
set label 3 note at screen x_at(width - 24), y_at(22) right font 'DejaVu Sans Bold,10' textcolor rgb ink
set label 4 'Values' at screen x_at(left), y_at(64) font 'DejaVu Sans Bold,10' textcolor rgb ink
set label 5 'B - A' at screen x_at(left + half + gap), y_at(64) font 'DejaVu Sans Bold,10' textcolor rgb ink
set xrange [x_from:x_to]

# Events of one record that the other record lacks, or has at another time.
do for [at in first_events] { set arrow from at + 0, graph 0 to at + 0, graph 1 nohead back dashtype 3 linecolor rgb hues[1] }
do for [at in second_events] { set arrow from at + 0, graph 0 to at + 0, graph 1 nohead back dashtype 2 linecolor rgb hues[2] }

do for [i = 1:n] {
    top = head + (i - 1) * each
    set label 6 label[i] at screen x_at(left), y_at(top + 2) textcolor rgb faint
    set tmargin at screen y_at(top + 14)
    set bmargin at screen y_at(top + each - 18)
    if (i == n) {
        set xlabel x_label offset 0,0.3 textcolor rgb ink
        set xtics format '%.10g'
    } else {
        unset xlabel
        set xtics format ''
    }
    set lmargin at screen x_at(left)
    set rmargin at screen x_at(left + half)
    set yrange [value(sprintf('y_from_%d', 2 * i - 1)):value(sprintf('y_to_%d', 2 * i - 1))]
    plot sprintf('%s-first-%d.dat', name, i) with lines linecolor rgb hues[1] linewidth 2, \
         sprintf('%s-second-%d.dat', name, i) with lines linecolor rgb hues[2] linewidth 1
    unset label
    set lmargin at screen x_at(left + half + gap)
    set rmargin at screen x_at(width - 34)
    set yrange [value(sprintf('y_from_%d', 2 * i)):value(sprintf('y_to_%d', 2 * i))]
    plot sprintf('%s-difference-%d.dat', name, i) with lines linecolor rgb hues[8] linewidth 1
}
unset multiplot
set output
