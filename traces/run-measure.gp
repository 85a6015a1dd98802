# A measure of a run with its reference: the whole run above, and below it a panel around each event.
# Marks at the bottom show where steps were missed.

zooms = is_part ? 0 : views - 1
columns = zooms < 2 ? 1 : zooms == 2 || zooms == 4 ? 2 : 3
rows = (zooms + columns - 1) / columns
height = is_part ? 350 : 338 + 230 * rows
width = greater(width, left + 60 + text_size(strlen(subtitle) + strlen(overshoot)))
gap = left - 14
panel = (width - left - 34 - (columns - 1) * gap) / real(columns)
y_at(pixels) = 1 - pixels / real(height)

eval terminal(width, height)
set output '../'.name.'.'.format.part

set multiplot
set key off

set label 1 title at screen x_at(left), y_at(24) font 'DejaVu Sans,13' textcolor rgb ink
set label 2 subtitle at screen x_at(left), y_at(44) textcolor rgb faint
set label 3 note at screen x_at(width - 24), y_at(24) right font 'DejaVu Sans Bold,10' textcolor rgb ink
set label 4 overshoot at screen x_at(width - 24), y_at(44) right textcolor rgb ink
set label 5 y_label at screen x_at(20), y_at(height / 2.0 + 10) center rotate textcolor rgb ink

do for [view = 1:is_part ? 1 : views] {
    row = view < 2 ? 0 : (view - 2) / columns
    column = view < 2 ? 0 : (view - 2) % columns
    at = view < 2 ? left : left + column * (panel + gap)
    top = is_part ? 84 : view == 1 ? 64 : 338 + 230 * row
    set tmargin at screen y_at(top)
    set bmargin at screen y_at(is_part ? 290 : top + (view == 1 ? 202 : 166))
    set lmargin at screen x_at(at)
    set rmargin at screen x_at(view == 1 ? width - 34 : at + panel)
    set xrange [x_from[view]:x_to[view]]
    bottom = value(sprintf('y_from_%d', view))
    set yrange [bottom:value(sprintf('y_to_%d', view))]
    missed_height = 0.05 * (value(sprintf('y_to_%d', view)) - bottom)
    set xlabel x_label[view] offset 0,0.3 textcolor rgb ink
    if (columns > 1 && view > 1) {
        set xtics autofreq rangelimited
        step = round_step((x_to[view] - x_from[view]) / (columns == 2 ? 5.0 : 3.5))
        set xtics step
    }
    if (view == 1) {
        set key at screen x_at(width - 24), y_at(is_part ? 66 : 296) right horizontal samplen 2 textcolor rgb ink
    } else { set key off }
    eval marks(view)
    # What has no panel, such as a change by hand, is written along its mark.
    if (view == 1 && !left_out) {
        do for [e = 1:words(events[1])] {
            has_panel = 0
            do for [v = 2:is_part ? 1 : views] { if (abs(word(events[1], e) - event_at[v]) <= 1e-6 * abs(event_at[v])) { has_panel = 1 } }
            if (!has_panel) { set label 40 + e event_text[e] at word(events[1], e) + 0, graph 0.04 left rotate offset 0.8,0 font 'DejaVu Sans,8' textcolor rgb mark }
        }
    }
    # Above the whole run the events have the numbers of their panels.
    if (view == 1 && zooms > 1) {
        do for [v = 2:views] { set label 18 + v sprintf('%d', v - 1) at event_at[v], graph 1.0 center offset 0,0.5 font 'DejaVu Sans,8' textcolor rgb mark }
        if (left_out) { set label 30 sprintf('and %d more events, which --from and --until show', left_out) at graph 1, graph 0.06 right font 'DejaVu Sans,8' textcolor rgb faint }
    }
    if (view > 1 && zooms > 1) {
        set label 18 sprintf('%d: %s', view - 1, event_name[view]) at graph 0, graph 1 left offset 0,0.6 font 'DejaVu Sans,8' textcolor rgb mark
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
