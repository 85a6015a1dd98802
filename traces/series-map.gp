# A map of a sweep over two keys: a cell for each run. A darker blue is a greater value.

# The colours of cells without a value, by kind of cell from 1; kind 0 has a value.
array kind_colour[5] = [good, bad, faint, doubt, grid]
array kind_name[5] = ['passed', 'failed', 'inconclusive', 'does not settle', 'not known']
has(kind) = int(kinds) / 2 ** kind % 2
has_values = has(0)

letters = 0
do for [i = 1:y_count] { letters = greater(letters, strlen(y_value[i])) }
x_letters = 0
do for [i = 1:x_count] { x_letters = greater(x_letters, strlen(x_value[i])) }

# While there is room, each cell is as wide as its text.
few = x_count <= 16 && y_count <= 40
cell_width = few ? greater(text_size(cell_letters), text_size(x_letters)) + 14 : greater(6, 720.0 / x_count)
cell_height = y_count <= 24 ? 26 : greater(6, 600.0 / y_count)
left = greater(left, 48 + text_size(letters))
map_width = greater(240, x_count * cell_width)
map_height = greater(120, y_count * cell_height)
width = greater(room_for_head, left + map_width + 150)
height = 64 + map_height + 58
right = left + map_width
y_at(pixels) = 1 - pixels / real(height)

eval terminal(width, height)
set output '../'.name.'.'.format.part

set lmargin at screen x_at(left)
set rmargin at screen x_at(right)
set tmargin at screen y_at(64)
set bmargin at screen y_at(64 + map_height)
set xrange [0.5:x_count + 0.5]
set yrange [0.5:y_count + 0.5]
unset grid
every(count, room) = greater(1, ceil(real(count) / room))
x_every = every(x_count, map_width / (text_size(x_letters) + 8))
y_every = every(y_count, map_height / 16.0)
set xtics ()
set ytics ()
do for [i = 1:x_count:int(x_every)] { set xtics add (x_value[i] i) }
do for [i = 1:y_count:int(y_every)] { set ytics add (y_value[i] i) }

set label 1 title at screen x_at(left), y_at(24) font 'DejaVu Sans,13' textcolor rgb ink
set label 2 subtitle at screen x_at(left), y_at(44) textcolor rgb faint
set label 3 y_label at screen x_at(20), y_at(64 + map_height / 2) center rotate textcolor rgb ink
set xlabel x_label offset 0,0.3 textcolor rgb ink

set palette defined (0 map_hues[1], 1 map_hues[2], 2 map_hues[3], 3 map_hues[4])
set cbrange [value_from:value_from < value_to ? value_to : value_from + 1]
set style fill solid noborder
if (has_values) {
    set colorbox user origin screen x_at(right + 16), screen y_at(64 + greater(100, map_height * 0.6)) \
        size screen x_at(14), screen greater(100, map_height * 0.6) / real(height) noborder
    set cbtics nomirror textcolor rgb ink
    set format cb '%.4g'
    set cbtics round_step(greater(value_to - value_from, 1e-300) / 4)
} else {
    unset colorbox
}

# Below the scale, a legend names the kinds of cells without a value.
at = 64 + (has_values ? greater(100, map_height * 0.6) + 26 : 10)
do for [kind = 1:5] {
    if (has(kind)) {
        set object 10 + kind rectangle from screen x_at(right + 16), screen y_at(at - 5) \
            to screen x_at(right + 28), screen y_at(at + 6) fillstyle solid noborder fillcolor rgb kind_colour[kind]
        set label 10 + kind kind_name[kind] at screen x_at(right + 34), screen y_at(at) textcolor rgb ink
        at = at + 18
    }
}

data = name.'-cells-1.dat'
middle = value_from + 0.45 * (value_to - value_from)
low = 0.48 # half a cell minus a gap
if (!few) { low = 0.5 }
plot data using (int($3) == 0 ? $1 : NaN):2:($1 - low):($1 + low):($2 - low):($2 + low):4 \
         with boxxyerror fillcolor palette, \
     for [kind = 1:5] data using (int($3) == kind ? $1 : NaN):2:($1 - low):($1 + low):($2 - low):($2 + low) \
         with boxxyerror fillcolor rgb kind_colour[kind], \
     data using (few && int($3) == 0 && $4 <= middle ? $1 : NaN):2:5 \
         with labels textcolor rgb ink, \
     data using (few && int($3) == 0 && $4 > middle ? $1 : NaN):2:5 \
         with labels textcolor rgb paper
set output
