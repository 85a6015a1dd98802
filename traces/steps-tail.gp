# The share of steps that were later, or longer, than a given time, and the share of longer round
# trips.

head = 64
foot = 52
height = head + 380 + foot
y_at(pixels) = 1 - pixels / real(height)

longest = 0
do for [i = 1:n] { longest = greater(longest, strlen(label[i])) }
beside = greater(160, 50 + text_size(longest + 6))
width = width + beside - 160

eval terminal(width, height)
set output '../'.name.'.'.format.part


set logscale xy
set lmargin at screen x_at(left)
set rmargin at screen x_at(width - beside)
set tmargin at screen y_at(head)
set bmargin at screen y_at(height - foot)
set xrange [1e-3:*]
set yrange [*:1]
set xtics @time_tics
set ytics @share_tics
set ylabel 'share of steps' offset 1,0 textcolor rgb ink
set key at graph 1.01, 1 left top Left reverse samplen 1.5 textcolor rgb ink

set label 1 title at screen x_at(left), y_at(24) font 'DejaVu Sans,13' textcolor rgb ink
set label 2 subtitle at screen x_at(left), y_at(44) textcolor rgb faint

file(series, i) = sprintf('%s-%s-%d.dat', name, series, i)
plot for [i = 1:n] file('late', i) with fsteps linewidth 1.4 \
         linecolor rgb hues[i] title label[i].', late', \
     for [i = 1:n] file('step', i) with fsteps linewidth 1.4 \
         linecolor rgb faded(hues[i]) title label[i].', step', \
     (rounds ? file('round', 1) : '/dev/null') with fsteps linewidth 1.2 linecolor rgb hues[3] \
         title (rounds ? 'round trip' : '')
unset label
set output
