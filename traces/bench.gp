# Plots the benchmarks of build/bench.json that have a comparison, each as a ratio to it:
#
#       gnuplot -e "from='build/bench.json'; to='build/bench.png'" traces/bench.gp
#
# Above 1 is better than the comparison, whether lower or higher values are better. A mark shows the
# target.

if (!exists("from")) from = 'build/bench.json'
if (!exists("to")) to = 'build/bench.png'

table = system(sprintf("mktemp"))
system(sprintf("jq -r '.results[] | select(.ratio != null) | . as $r | \
    (if .more_is_better then .ratio else 1 / .ratio end) as $x | \
    (if .target_ratio == null then null elif .more_is_better then .target_ratio \
     else 1 / .target_ratio end) as $t | \
    [\"\\\"\" + .name + \" : \" + .against + \"\\\"\", $x, ($t // \"NaN\")] | join(\" \")' %s > %s", from, table))

set terminal pngcairo noenhanced size 1100, 1400 font ",10"
set output to
set title "libloco beside what else does the same (the other: 1)"
set logscale x 10
set xlabel "times as good"
set xrange [0.1:*]
set yrange [] reverse
set grid x
set key bottom right
set style fill solid 0.6
plot table using 2:0:(0.1):2:($0 - 0.35):($0 + 0.35):ytic(1) with boxxyerror title "measured", \
     table using 3:0 with points pt 9 ps 1.4 lc "black" title "target"
system("rm -f " . table)
