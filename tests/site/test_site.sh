#!/bin/sh
# The documents as a site: make site, in a folder of its own, and what its check of links finds.
#
#      test_site.sh [BUILD]
set -u
cd "$(dirname "$0")/../.." || exit
build=$(realpath "${1:-build}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# check WHAT COMMAND...: runs the command and prints WHAT; if the command fails, also its output.
check() {
    what=$1
    shift
    if "$@" >"$work/said" 2>&1; then
        echo "  ok: $what"
    else
        echo "  FAILED: $what"
        sed 's/^/      /' "$work/said" | head -40
        failures=$((failures + 1))
    fi
}

site=$work/build/site
mkdir "$work/build"
ln -s "$build/hiloco" "$build/man" "$work/build"

make_site() {
    python3 -B docs/site/site.py "$work/build" html
}

all_there() {
    for command in $("$build/hiloco" --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'); do
        grep -q 'id="synopsis"' "$site/commands/hiloco-$command.html" || return 1
    done
    for model in $("$build/hiloco" models | sed -n 's/^\([a-z][a-z_0-9]*\) (.*/\1/p'); do
        grep -q '<h2 id="equations">' "$site/models/$model.html" || return 1
        grep -q "href=\"models/$model.html\"" "$site/models.html" || return 1
    done
    for document in docs/*.md; do
        [ -f "$site/$(basename "$document" .md).html" ] || return 1
    done
    [ -f "$site/servo.png" ]
}

# The same numbers as hiloco models.
model_page() {
    "$build/hiloco" models buck | awk '$1 == "inductor_resistance_ohm" {print $3, $4, $6}' >"$work/a"
    python3 - "$site/models/buck.html" >"$work/b" <<'end'
import re, sys
row = re.search(r"inductor_resistance_ohm.*?</tr>", open(sys.argv[1]).read(), re.S).group()
cells = re.findall(r"<td>(.*?)</td>", row)
print(cells[1], *cells[2].split(" to "))
end
    [ -s "$work/a" ] && diff "$work/a" "$work/b"
}

searched() {
    for word in settling phase-locked loco_sst_each HIL_ADC; do
        grep -q "$word" "$site/search/search_index.json" || { echo "$word" && return 1; }
    done
}

dead() { # PAGE FROM TO WHAT IS SAID
    cp "$site/$1" "$work/page.html"
    sed -i "s|$2|$3|" "$site/$1"
    python3 -B - "$site" >"$work/found" <<'end'
import runpy, sys
print("\n".join(runpy.run_path("docs/site/site.py")["dead_links"](sys.argv[1])))
end
    cp "$work/page.html" "$site/$1"
    cat "$work/found"
    grep -qxF "$4" "$work/found"
}

# What is installed: links lead to what is installed, too.
installed_links() {
    python3 - "$work/build/documents" <<'end'
import os, re, sys
found = 0
for folder, _, files in os.walk(sys.argv[1]):
    for name in (n for n in files if n.endswith(".md")):
        text = open(os.path.join(folder, name)).read()
        for target in re.findall(r"\]\(([^)#\s]+)", text):
            found += 1
            if not target.startswith("http") and not os.path.exists(os.path.join(folder, target)):
                sys.exit(f"{name}: {target}")
sys.exit(found < 300)
end
}

check "make site, all of whose links lead somewhere" make_site
check "a page for each document, command and model" all_there
check "a model's page has its numbers" model_page
check "words can be searched" searched
check "a link to no page is found" dead index.html 'tutorial.html"' 'nothing.html"' \
    "index.html: nothing.html is not there"
check "a link to no place of a page is found" dead index.html 'glossary.html"' 'glossary.html#nothing"' \
    "index.html: glossary.html#nothing has no such place"
check "links of the documents that are installed" installed_links
[ "$failures" = 0 ] && echo "all checks passed"
exit "$failures"
