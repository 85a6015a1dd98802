# The loop's round trip against a node's period, with lines at one and two periods for comparison.

height = 520
y_at(pixels) = 1 - pixels / real(height)

eval terminal(width, height)
set output '../'.name.'.'.format.part

stats name.'-points-1.dat' using 1:2 nooutput
set logscale y
set ytics @time_tics
set lmargin at screen x_at(left)
set rmargin at screen x_at(width - 150)
set tmargin at screen y_at(64)
set bmargin at screen y_at(height - 54)
set xrange [0:STATS_max_x * 1.05]
set xlabel x_label offset 0,0.3 textcolor rgb ink
set label 3 'round trip' at screen x_at(20), y_at((64 + height - 54) / 2) center rotate textcolor rgb ink

set label 1 title at screen x_at(left), y_at(24) font 'DejaVu Sans,13' textcolor rgb ink
set label 2 subtitle at screen x_at(left), y_at(44) textcolor rgb faint
set key at screen x_at(width - 12), y_at(64) right top Left reverse samplen 2 spacing 1.3 textcolor rgb ink
plot name.'-points-1.dat' using 1:4 with linespoints pt 7 ps 0.6 linecolor rgb hues[7] title 'p99.9', \
     '' using 1:3 with linespoints pt 7 ps 0.6 linecolor rgb hues[2] title 'p99', \
     '' using 1:2 with linespoints pt 7 ps 0.6 linecolor rgb hues[1] title 'median', \
     2 * x with lines linecolor rgb faint dashtype 3 title 'two periods', \
     x with lines linecolor rgb faint dashtype 2 title 'one period'
set output
