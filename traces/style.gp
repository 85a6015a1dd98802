# What all figures have in common. It is loaded, and a figure's script after it, for each
# format.

set encoding utf8

# Sizes are those of the SVG; the PNG has more pixels, and everything in it grows alike.
png_scale = 1.6
terminal(width, height) = format eq 'png' \
    ? sprintf("set terminal pngcairo noenhanced background '#ffffff' font 'DejaVu Sans,10' size %d,%d fontscale %g linewidth %g pointscale %g", \
              png_scale * width, png_scale * height, png_scale, png_scale, png_scale) \
    : sprintf("set terminal svg noenhanced background '#ffffff' font 'DejaVu Sans,10' size %d,%d", width, height)

# Distances from the picture's edges are given in the units of its size.
width = 900
x_at(pixels) = pixels / real(width)

# Room for texts beside the plot, the longest having so many letters; bold ones are wide.
room_for(letters) = letters * 7.4 + 26 < 196 ? 196 : letters < 40 ? letters * 7.4 + 26 : 322

ink = '#303030'
pale = '#8a8a8a'
grid = '#e4e4e4'

set border 3 linecolor rgb pale linewidth 0.8
set tics nomirror out scale 0.5 textcolor rgb ink
set grid linecolor rgb grid linewidth 0.6 linetype 1
set key noautotitle

# The window of the steady state as a shade, and the events as lines, of the curves i; to be
# evaluated. They replace those of the curves before.
marks(i) = "unset arrow; unset object; " \
    .sprintf("do for [at in events[%d]] { set arrow from at + 0, graph 0 to at + 0, graph 1 nohead back dashtype 3 linecolor rgb '#a06000' }; ", i) \
    .(window_from[i] < window_to[i] \
      ? sprintf("set object rectangle from %.12g, graph 0 to %.12g, graph 1 behind fillstyle solid noborder fillcolor rgb '#edf5e1'", \
                window_from[i], window_to[i]) : "")

# The nearest of 1, 2, 5, 10, 20 ... : a distance between tics that reads well.
power(x) = 10.0 ** floor(log10(x))
round_step(x) = (x / power(x) < 1.5 ? 1 : x / power(x) < 3.5 ? 2 : x / power(x) < 7.5 ? 5 : 10) * power(x)
