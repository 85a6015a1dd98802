# Signals over each other: a row for each unit, with the whole run on the left and an event on the
# right, or only a part of the run.

head = 64
foot = 46
# A panel is high enough for its key.
array top[panels + 1]
top[1] = head
do for [p = 1:panels] { top[p + 1] = top[p] + greater(190, 40 + 17 * (last[p] - first[p] + 1)) }
height = top[panels + 1] + foot
y_at(pixels) = 1 - pixels / real(height)
room = 50 + greater(120, text_size(label_letters))
gap = left + 8 # room for the right plot's tics, with as many digits as the left one's
width = greater(width, left + room + gap + 2 * 330)
wide = is_part ? width - left - room : 0.58 * (width - left - room - gap)

eval terminal(width, height).' rounded'
set output '../'.name.'.'.format.part

set multiplot
set key off
set label 1 title at screen x_at(left), y_at(24) font 'DejaVu Sans,13' textcolor rgb ink
set label 2 subtitle at screen x_at(left), y_at(44) textcolor rgb faint

do for [p = 1:panels] {
    bottom = top[p + 1]
    set label 3 y_label[p] at screen x_at(20), y_at((top[p] + bottom) / 2) center rotate textcolor rgb ink
    do for [view = 1:is_part ? 1 : 2] {
        axis = 2 * (p - 1) + view
        set tmargin at screen y_at(top[p] + 10)
        set bmargin at screen y_at(bottom - 22)
        set lmargin at screen x_at(view == 1 ? left : left + wide + gap)
        set rmargin at screen x_at(view == 1 ? left + wide : width - room)
        set xrange [x_from[view]:x_to[view]]
        set yrange [value(sprintf('y_from_%d', axis)):value(sprintf('y_to_%d', axis))]
        if (p == panels) {
            set xlabel x_label[view] offset 0,0.3 textcolor rgb ink
            set xtics format '%.10g'
        } else {
            unset xlabel
            set xtics format ''
        }
        if (view == 2 || is_part) {
            set key at screen x_at(width - room + 12), y_at(top[p] + 10) left top Left reverse samplen 1.5 textcolor rgb ink
        } else {
            set key off
        }
        eval marks(view)
        plot for [i = first[p]:last[p]] sprintf('%s-signal-%d-%d.dat', name, i, view) \
             with lines linecolor rgb hues[colour[i]] dashtype dash[i] linewidth thick[i] title label[i]
        unset label
    }
}
unset multiplot
set output
