# Two sweeps over the same values: a row of two panels for each value, with the same time axis and
# scale, and the steps that the second sweep missed.

panel = greater(greater(84, 220.0 / n), (label_lines + 3) * line_height + 22)
head = 82
foot = 76
gap = 60
height = head + n * panel + foot
y_at(pixels) = 1 - pixels / real(height)
beside_letters = 0
do for [i = 1:n] {
    beside_letters = greater(beside_letters, greater(strlen('right: '.twin_note[i]), strlen(missed[i]) + 10))
}
text = 30 + greater(200, greater(words_size(7), text_size(beside_letters)))
column = 24 + bold_size(greater(strlen(left_title), strlen(right_title)))
width = greater(greater(1200, room_for_head), left + gap + text + 2 * greater(420, column))
each = (width - left - gap - text) / 2

eval terminal(width, height)
set output '../'.name.'.'.format.part

set multiplot
set xrange [x_from:x_to]
set yrange [y_from_1:y_to_1]
set ytics round_step((y_to_1 - y_from_1) / 2.5)
set xtics format ''

set label 1 title at screen x_at(left), y_at(24) font 'DejaVu Sans,13' textcolor rgb ink
set label 2 left_title at screen x_at(left), y_at(head - 14) font 'DejaVu Sans Bold,10' textcolor rgb ink
set label 3 right_title at screen x_at(left + each + gap), y_at(head - 14) font 'DejaVu Sans Bold,10' textcolor rgb ink
set label 4 y_label at screen x_at(20), y_at(head + n * panel / 2) center rotate textcolor rgb ink
set label 5 'Missed deadlines as the runs on the right measured them, of '.missed_of.': the share of the steps due' at screen x_at(left), y_at(height - 26) textcolor rgb faint
set label 6 'that had not ended when the next one was due, or were left out. Grey: more than allowed, so the machine does not hold these periods.' at screen x_at(left), y_at(height - 11) textcolor rgb faint

do for [i = 1:n] {
    top = head + (i - 1) * panel
    set tmargin at screen y_at(top + 5)
    set bmargin at screen y_at(top + panel - 5)
    if (i == n) {
        set xtics format '%.10g'
        set xlabel x_label offset 0,0.3 textcolor rgb ink
    }
    set lmargin at screen x_at(left)
    set rmargin at screen x_at(left + each)
    plot sprintf('%s-reference-%d.dat', name, i) with lines linecolor rgb faint linewidth 0.8 dashtype 2, \
         sprintf('%s-series-%d.dat', name, i) with lines linecolor rgb colour[i] linewidth 1
    unset label

    set lmargin at screen x_at(left + each + gap)
    set rmargin at screen x_at(width - text)
    at = x_at(width - text + 14)
    words = top + 14 + label_lines * line_height
    set label 7 label[i] at screen at, y_at(top + 14) font 'DejaVu Sans Bold,10' textcolor rgb colour[i]
    set label 8 'left: '.note[i] at screen at, y_at(words + 2) textcolor rgb ink
    set label 9 'right: '.twin_note[i] at screen at, y_at(words + 19) textcolor rgb ink
    set label 10 missed[i].(held[i] ? '' : ': not held') at screen at, y_at(words + 36) textcolor rgb ink
    twin = twin_note[i] eq 'no record' ? '/dev/null' : sprintf('%s-twin-%d.dat', name, i)
    plot sprintf('%s-reference-%d.dat', name, i) with lines linecolor rgb faint linewidth 0.8 dashtype 2, \
         twin with lines linecolor rgb (held[i] ? colour[i] : faint) linewidth 1
    unset label
}
unset multiplot
set output
