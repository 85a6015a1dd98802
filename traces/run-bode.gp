# A frequency response: gain above, phase below. Readings that are not coherent are hollow. A line
# marks the crossover, and the phase margin is drawn on it.

height = 560
y_at(pixels) = 1 - pixels / real(height)
middle = (64 + height - 54) / 2

eval terminal(width, height)
set output '../'.name.'.'.format.part

points = name.'-points-1.dat'
coherent(value) = column(4) >= 0.95 ? value : NaN
doubtful(value) = column(4) < 0.95 ? value : NaN

set multiplot
set logscale x
if (exists('x_from')) { set xrange [x_from:x_to] }
set lmargin at screen x_at(left)
set rmargin at screen x_at(width - 40)
set grid xtics mxtics ytics linecolor rgb grid linewidth 0.6 linetype 1
if (crossover > 0) { set arrow 1 from crossover, graph 0 to crossover, graph 1 nohead back dashtype 3 linecolor rgb mark }

set label 1 title at screen x_at(left), y_at(24) font 'DejaVu Sans,13' textcolor rgb ink
set label 2 subtitle at screen x_at(left), y_at(44) textcolor rgb faint
set label 3 'gain (dB)' at screen x_at(20), y_at((64 + middle) / 2) center rotate textcolor rgb ink
set tmargin at screen y_at(64)
set bmargin at screen y_at(middle - 12)
set format x ''
if (of_loop) { set arrow 2 from graph 0, first 0 to graph 1, first 0 nohead back linewidth 0.8 linecolor rgb faint }
plot points using 1:2 with lines linewidth 1.4 linecolor rgb hues[1], \
     '' using 1:(coherent(column(2))) with points pt 7 ps 0.5 linecolor rgb hues[1], \
     '' using 1:(doubtful(column(2))) with points pt 6 ps 0.8 linecolor rgb bad

unset label 1
unset label 2
unset arrow 2
set label 3 'phase (°)' at screen x_at(20), y_at((middle + height - 54) / 2) center rotate textcolor rgb ink
set tmargin at screen y_at(middle + 12)
set bmargin at screen y_at(height - 54)
set format x '%.10g'
set xlabel 'frequency (Hz)' offset 0,0.3 textcolor rgb ink
set ytics 45
if (of_loop) { set arrow 2 from graph 0, first -180 to graph 1, first -180 nohead back linewidth 0.8 linecolor rgb faint }
if (crossover > 0) { set arrow 3 from crossover, first margin_from to crossover, first margin_to heads size screen 0.006, 20 front linewidth 1.2 linecolor rgb mark }
plot points using 1:3 with lines linewidth 1.4 linecolor rgb hues[2], \
     '' using 1:(coherent(column(3))) with points pt 7 ps 0.5 linecolor rgb hues[2], \
     '' using 1:(doubtful(column(3))) with points pt 6 ps 0.8 linecolor rgb bad
unset multiplot
set output
