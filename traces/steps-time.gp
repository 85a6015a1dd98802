# How late and how long the steps were, and the round trips of those who asked, over time: a panel for each array of nodes. Each point is the
# greatest value in its interval. A dot is a series of missed steps.

panel = 220
head = 64
foot = 46
height = head + n * panel + foot
y_at(pixels) = 1 - pixels / real(height)

longest = 0
do for [i = 1:n] { longest = greater(longest, strlen(label[i])) }
beside = greater(110, 20 + bold_size(longest))
width = width + beside - 110

eval terminal(width, height)
set output '../'.name.'.'.format.part

set multiplot
set logscale y
set lmargin at screen x_at(left)
set rmargin at screen x_at(width - beside)
set xrange [0:x_to]
set xtics format ''
set ytics @time_tics

set label 1 title at screen x_at(left), y_at(24) font 'DejaVu Sans,13' textcolor rgb ink
set label 2 subtitle at screen x_at(left), y_at(44) textcolor rgb faint

do for [i = 1:n] {
    top = head + (i - 1) * panel
    set tmargin at screen y_at(top + 8)
    set bmargin at screen y_at(top + panel - 10)
    if (i == n) {
        set xtics format '%g'
        set xlabel 'time in the trace (s)' offset 0,0.3 textcolor rgb ink
    }
    set label 3 label[i] at graph 1.02, 0.92 font 'DejaVu Sans Bold,10' textcolor rgb ink
    set label 4 'late' at graph 1.02, 0.80 textcolor rgb hues[1]
    set label 5 'step' at graph 1.02, 0.70 textcolor rgb hues[3]
    set label 6 (misses[i] > 0 ? 'missed by' : 'none missed') at graph 1.02, 0.60 textcolor rgb bad
    set label 7 (rounds[i] ? 'round trip' : '') at graph 1.02, 0.50 textcolor rgb hues[4]
    plot (rounds[i] ? sprintf('%s-round-%d.dat', name, i) : '/dev/null') \
             with points pointtype 7 pointsize 0.2 linecolor rgb hues[4], \
         sprintf('%s-late-%d.dat', name, i) with points pointtype 7 pointsize 0.2 linecolor rgb hues[1], \
         sprintf('%s-step-%d.dat', name, i) with points pointtype 7 pointsize 0.2 linecolor rgb hues[3], \
         (misses[i] > 0 ? sprintf('%s-misses-%d.dat', name, i) : '/dev/null') \
             with points pointtype 7 pointsize 0.5 linecolor rgb bad
    unset label
}
unset multiplot
set output
