# Settings and functions that all figures share. For each output format this script is loaded first,
# then the figure's script.

set encoding utf8

# Sizes are those of the SVG. The PNG has more pixels, and everything in it is scaled up equally.
png_scale = 1.6
terminal(width, height) = format eq 'png' \
    ? sprintf("set terminal pngcairo noenhanced background '%s' font 'DejaVu Sans,10' size %d,%d fontscale %g linewidth %g pointscale %g", \
              paper, png_scale * width, png_scale * height, png_scale, png_scale, png_scale) \
    : sprintf("set terminal svg noenhanced background '%s' font 'DejaVu Sans,10' size %d,%d", paper, width, height)

# Distances from the picture's edges are in the same units as its size. The plots begin at `left`,
# which leaves room for tics of eight digits and the axis label.
width = 900
left = 92
x_at(pixels) = pixels / real(width)

# The greatest width of a number of letters: in the title, in bold text, and in other text.
greater(a, b) = a > b ? a : b
title_size(letters) = letters * 9.2
bold_size(letters) = letters * 8.2
text_size(letters) = letters * 8.0
room_for_head = left + 24 + greater(title_size(strlen(title)), text_size(strlen(subtitle)))
width = greater(width, room_for_head)
line_height = 15

# The greatest width of the text beside a run of a sweep, with `before` letters before the note.
words_size(before) = greater(bold_size(label_letters), \
                             greater(text_size(before + note_letters), 0.8 * text_size(steady_letters)))

# A colour through which the grid is seen.
faded(colour) = '#90'.colour[2:7]

set border 3 linecolor rgb faint linewidth 0.8
set tics nomirror out scale 0.5 textcolor rgb ink
set format y '%.8g'
set format x '%.10g'
set grid linecolor rgb grid linewidth 0.6 linetype 1
set key noautotitle

# Commands, for `eval`, that draw the marks of the curves i and remove those of the curves before:
# shades for the window of the steady state and for each fault, lines for events and failed limits.
marks(i) = "unset arrow; unset object; " \
    ."do for [k = 200:247] { unset label k }; " \
    .sprintf("do for [k = 1:words(fault_names[%d])] { ", i) \
    .sprintf("f = word(faults[%d], 2 * k - 1) + 0; t = word(faults[%d], 2 * k) + 0; ", i, i) \
    .sprintf("set object 200 + k rectangle from f, graph 0 to t, graph 1 behind fillstyle transparent solid 0.15 noborder fillcolor rgb '%s'; ", bad) \
    .sprintf("set arrow 200 + k from f, graph 0 to f, graph 1 nohead back linewidth 0.5 linecolor rgb '%s'; ", bad) \
    .sprintf("set label 199 + k word(fault_names[%d], k) at f, graph 0.75 right rotate offset 0.8,0 font 'DejaVu Sans,8' textcolor rgb '%s' }; ", i, bad) \
    .sprintf("do for [at in events[%d]] { set arrow from at + 0, graph 0 to at + 0, graph 1 nohead back dashtype 3 linecolor rgb '%s' }; ", i, mark) \
    .sprintf("do for [k = 1:words(failures[%d]) / 2] { ", i) \
    .sprintf("at = word(failures[%d], 2 * k - 1) + 0; ", i) \
    .sprintf("set arrow from at, graph 0 to at, graph 1 nohead back dashtype 2 linecolor rgb '%s'; ", bad) \
    .sprintf("set label 231 + k noenhanced word(failures[%d], 2 * k).' failed' at at, graph 0.6 right rotate offset 0.8,0 font 'DejaVu Sans,8' textcolor rgb '%s' }; ", i, bad) \
    .(window_from[i] < window_to[i] \
      ? sprintf("set object 1 rectangle from %.12g, graph 0 to %.12g, graph 1 behind fillstyle transparent solid 0.1 noborder fillcolor rgb '%s'", \
                window_from[i], window_to[i], good) : "")

# Rounds a distance between tics to the nearest of 1, 2, 5, 10, 20 ..., so that the tics read well.
power(x) = 10.0 ** floor(log10(x))
round_step(x) = (x / power(x) < 1.5 ? 1 : x / power(x) < 3.5 ? 2 : x / power(x) < 7.5 ? 5 : 10) * power(x)

# Tics for a share and for a time, with labels in one style over all decades.
share_tics = "('1' 1, '10⁻¹' 1e-1, '10⁻²' 1e-2, '10⁻³' 1e-3, '10⁻⁴' 1e-4, '10⁻⁵' 1e-5, '10⁻⁶' 1e-6, '10⁻⁷' 1e-7, '10⁻⁸' 1e-8, '10⁻⁹' 1e-9)"
time_tics = "('1 ns' 1e-3, '10 ns' 1e-2, '100 ns' 0.1, '1 µs' 1, '10 µs' 10, '100 µs' 100, '1 ms' 1e3, '10 ms' 1e4, '100 ms' 1e5, '1 s' 1e6, '10 s' 1e7, '100 s' 1e8)"
time_tics_without_words = "('' 1e-3, '' 1e-2, '' 0.1, '' 1, '' 10, '' 100, '' 1e3, '' 1e4, '' 1e5, '' 1e6, '' 1e7, '' 1e8)"
