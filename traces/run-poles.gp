# The eigenvalues of a sampled loop, and the unit circle within which they must be. Curves of equal
# damping show how its oscillations fall.

height = 640
y_at(pixels) = 1 - pixels / real(height)
side = height - 64 - 54

eval terminal(width, height)
set output '../'.name.'.'.format.part

points = name.'-points-1.dat'
inside(value) = column(1) ** 2 + column(2) ** 2 < 1 ? value : NaN
outside(value) = column(1) ** 2 + column(2) ** 2 < 1 ? NaN : value
turn = 2 * pi

# z = exp(s T) with the damping d, up to half of the rate: the angle is |Im s| T.
fall(d, angle) = exp(-angle * d / sqrt(1 - d ** 2))

set parametric
set trange [0:turn]
set xrange [-most:most]
set yrange [-most:most]
set lmargin at screen x_at(left)
set rmargin at screen x_at(left + side)
set tmargin at screen y_at(64)
set bmargin at screen y_at(64 + side)
set xlabel 'real part of z' offset 0,0.3 textcolor rgb ink
set ylabel 'imaginary part of z' textcolor rgb ink
set label 1 title at screen x_at(left), y_at(24) font 'DejaVu Sans,13' textcolor rgb ink
set label 2 subtitle at screen x_at(left), y_at(44) textcolor rgb faint
set key at screen x_at(left + side + 20), y_at(74) left top Left reverse textcolor rgb ink samplen 2
plot cos(t), sin(t) with lines linewidth 1.2 linecolor rgb ink title 'unit circle', \
     for [k = 1:9:2] fall(k / 10.0, t / 2) * cos(t / 2), fall(k / 10.0, t / 2) * sin(t / 2) with lines linewidth 0.6 linecolor rgb faint dashtype 3 \
         title (k == 1 ? 'damping 0.1, 0.3 ... 0.9' : ''), \
     for [k = 1:9:2] fall(k / 10.0, t / 2) * cos(t / 2), -fall(k / 10.0, t / 2) * sin(t / 2) with lines linewidth 0.6 linecolor rgb faint dashtype 3, \
     points using 1:(inside(column(2))) with points pt 2 ps 1 linewidth 1.4 linecolor rgb hues[1] title 'eigenvalue', \
     '' using 1:(outside(column(2))) with points pt 2 ps 1.2 linewidth 1.6 linecolor rgb bad title 'on the circle or outside'
set output
