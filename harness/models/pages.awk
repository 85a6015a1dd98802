# The pages of the built-in models, from the comments of their files: a line "@NAME FILE" for each
# model, and then what stands at the top of its file, at the top of the headers that are named there,
# and above its step.

function stripped(line) {
    sub(/^\/\* ?/, "", line)
    sub(/ *\*\/$/, "", line)
    sub(/^ \* ?/, "", line)
    return line
}

function base(path) {
    sub(/.*\//, "", path)
    return path
}

function header_text(header) {
    return header in top && header ~ /\.h$/ ? "\n" top[header] : ""
}

function named(text, skip,    header, all) {
    all = ""
    for (header in top)
        if (header ~ /\.h$/ && header != skip && index(text, header))
            order[header] = 1
    while (1) { # in the order in which they are named
        header = first_named(text)
        if (header == "")
            return all
        all = all header_text(header)
        delete order[header]
    }
}

function first_named(text,    header, best, at) {
    best = ""
    for (header in order)
        if (best == "" || index(text, header) < at) {
            best = header
            at = index(text, header)
        }
    return best
}

FNR == 1 { file = base(FILENAME); path[file] = FILENAME; collecting = 0; ended = -1 }
/^\/\*/ { collecting = 1; comment = ""; first = FNR == 1 }
collecting {
    text = stripped($0)
    if (text != "" || comment != "")
        comment = comment text "\n"
    if ($0 ~ /\*\/$/) {
        collecting = 0
        ended = FNR
        if (first)
            top[file] = comment
    }
}
/^static int [a-z_0-9]+_step\(/ && ended == FNR - 1 {
    name = $3
    sub(/_step.*/, "", name)
    step[name] = comment
}
/^ *\.name = "/ { split($0, part, "\""); add(part[2], "") }
/^BLOCK_MODEL\(|^METER\(/ { split($0, part, /[(,]/); add(part[2], "") }
/^AVERAGED\(/ { split($0, part, /[(,]/); add(part[2], "switched.h") }
/^SWITCHED\(/ { split($0, part, /[(,]/); add(part[2], "averaged.h") }

function add(model, skip) {
    if (file ~ /\.c$/) {
        models[++count] = model
        of[model] = file
        skips[model] = skip
    }
}

END {
    for (i = 1; i <= count; i++) {
        model = models[i]
        text = top[of[model]]
        printf "@%s %s\n%s%s%s", model, path[of[model]], text, named(text, skips[model]),
               model in step ? "\n" step[model] : ""
    }
}
