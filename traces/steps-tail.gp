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

array colors[8] = ['#2b7bba', '#d98324', '#8e5ea2', '#2f9e8f', '#b3474a', '#8a6d3b', '#5b6f8a', '#c0a000']
array pales[8] = ['#9cc4e4', '#f0c590', '#cdb4d8', '#9fd6cd', '#e2aeb0', '#cdbb98', '#b4bfcc', '#e3d68a']

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
set label 2 subtitle at screen x_at(left), y_at(44) textcolor rgb pale

file(series, i) = sprintf('%s-%s-%d.dat', name, series, i)
plot for [i = 1:n] file('late', i) with fsteps linewidth 1.4 \
         linecolor rgb colors[i] title label[i].', late', \
     for [i = 1:n] file('step', i) with fsteps linewidth 1.4 \
         linecolor rgb pales[i] title label[i].', step', \
     (rounds ? file('round', 1) : '/dev/null') with fsteps linewidth 1.2 linecolor rgb '#7a9a3a' \
         title (rounds ? 'round trip' : '')
unset label
set output
