# A measure of a run with its reference: the whole run above, the start-up below. Marks at the
# bottom show where steps were missed.

height = is_part ? 350 : 560
width = greater(width, left + 60 + text_size(strlen(subtitle) + strlen(overshoot)))
y_at(pixels) = 1 - pixels / real(height)

eval terminal(width, height)
set output '../'.name.'.'.format.part

set multiplot
set key off
set lmargin at screen x_at(left)
set rmargin at screen x_at(width - 34)

set label 1 title at screen x_at(left), y_at(24) font 'DejaVu Sans,13' textcolor rgb ink
set label 2 subtitle at screen x_at(left), y_at(44) textcolor rgb faint
set label 3 note at screen x_at(width - 24), y_at(24) right font 'DejaVu Sans Bold,10' textcolor rgb ink
set label 4 overshoot at screen x_at(width - 24), y_at(44) right textcolor rgb ink
set label 5 y_label at screen x_at(20), y_at(is_part ? 186 : 285) center rotate textcolor rgb ink

do for [view = 1:is_part ? 1 : 2] {
    set tmargin at screen y_at(is_part ? 84 : view == 1 ? 64 : 330)
    set bmargin at screen y_at(is_part ? 290 : view == 1 ? 266 : 506)
    set xrange [x_from[view]:x_to[view]]
    if (view == 1) { set yrange [y_from_1:y_to_1] } else { set yrange [y_from_2:y_to_2] }
    bottom = view == 1 ? y_from_1 : y_from_2
    missed_height = 0.05 * (view == 1 ? y_to_1 - y_from_1 : y_to_2 - y_from_2)
    set xlabel x_label[view] offset 0,0.3 textcolor rgb ink
    if (view == 2 || is_part) {
        set key at screen x_at(width - 24), y_at(is_part ? 66 : 316) right horizontal samplen 2 textcolor rgb ink
    }
    eval marks(view)
    if (view == 1) {
        do for [e = 1:words(events[1])] {
            set label 20 + e event_text[e] at word(events[1], e) + 0, graph 0.04 left rotate offset 0.8,0 font 'DejaVu Sans,8' textcolor rgb mark
        }
    }
    plot sprintf('%s-value-%d.dat', name, view) with lines linecolor rgb hues[1] linewidth 1 title value_label, \
         (has_reference ? sprintf('%s-reference-%d.dat', name, view) : '/dev/null') with lines linecolor rgb hues[2] linewidth 1 dashtype 2 title (has_reference ? 'reference' : ''), \
         (missed ? sprintf('%s-missed-%d.dat', name, view) : '/dev/null') using 1:(bottom):(0):(missed_height) with vectors nohead linecolor rgb bad linewidth 1, \
         keyentry with lines linecolor rgb bad linewidth 1 title (missed ? 'missed steps' : '')
    unset label
}
unset multiplot
set key off
set output
