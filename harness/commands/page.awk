# Makes a command's man page of its --help, and of the overview that is hiloco --help:
#
#     hiloco run --help | awk -v command=run -f page.awk OVERVIEW -
#
# An entry of a list begins after two spaces, and its text after two more, or on the next line.

NR == FNR { # the overview has each command in two columns, or the second one on the next line
    if (next_line || $0 ~ "^  " command " ") {
        next_line = !next_line && substr($0, 20, 1) != " "
        about = substr($0, 21)
    }
    next
}

FNR == 1 {
    print ".\\\" Made of hiloco " command " --help."
    print ".Dd November 28, 2026\n.Dt HILOCO-" toupper(command) " 1\n.Os"
    print ".Sh NAME\n.Nm hiloco-" command "\n.Nd " about "\n.Sh SYNOPSIS"
    part = "synopsis"
}

function macro(text,   made, count, at, i, name) { # "--set KEY=VALUE" is "Fl Fl set Ar KEY=VALUE"
    count = split(text, at, / +/)
    for (i = 1; i <= count; i++) {
        name = substr(at[i], 3)
        if (at[i] !~ /^--/)
            made = made " Ar " at[i]
        else if (match(name, /[[=]/))
            made = made " Fl Fl " substr(name, 1, RSTART - 1) " Ns Ar " substr(name, RSTART)
        else
            made = made " Fl Fl " name
    }
    return substr(made, 2)
}

function synopsis(text,   depth, i, c, group, dots) {
    sub(/^usage: /, "", text)
    sub(/^ +/, "", text)
    if (sub("^hiloco " command " ?", "", text))
        print ".Nm hiloco\n.Cm " command
    for (i = 1; i <= length(text) + 1; i++) {
        c = substr(text, i, 1)
        depth += (c == "[") - (c == "]")
        if (depth == 0 && (c == " " || c == "")) {
            if (group ~ /^\[.*\](\.\.\.)?$/) {
                dots = sub(/\.\.\.$/, "", group) ? " ..." : ""
                print ".Op " macro(substr(group, 2, length(group) - 2) dots)
            } else if (group != "")
                print "." macro(group)
            group = ""
        } else {
            group = group c
        }
    }
}

function say(text) {
    gsub(/\\/, "\\\\e", text)
    gsub(/--/, "\\\\-\\\\-", text)
    print (text ~ /^[.']/ ? "\\&" : "") text
}

function end_list() {
    if (listed)
        print ".El"
    listed = 0
}

function entry(text,   term, rest) {
    if (!listed)
        print ".Bl -tag -width Ds"
    listed = 1
    text = substr(text, 3)
    term = text
    rest = ""
    if (match(text, /  +/)) {
        term = substr(text, 1, RSTART - 1)
        rest = substr(text, RSTART + RLENGTH)
    }
    print ".It " (term ~ /^--/ ? macro(term) : "Li \"" term "\"")
    if (rest != "")
        say(rest)
}

part == "synopsis" && NF == 0 { part = "description"; print ".Sh DESCRIPTION"; next }
part == "synopsis" { synopsis($0); next }
/^usage: / { other = 1 } # a second help, which continues the list
other { other = NF > 0; blank = 1; next }
NF == 0 { blank = 1; next }
/^  [^ ]/ { entry($0); blank = 0; next }
/^   +/ && listed { sub(/^ +/, ""); say($0); next }
{
    end_list()
    if (blank)
        print ".Pp"
    blank = 0
    if (sub(/^    /, ""))
        print ".Dl " $0
    else
        say($0)
}
END { end_list(); print ".Sh SEE ALSO\n.Xr hiloco 1" }
