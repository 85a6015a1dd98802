#!/bin/sh
# Checks that the code in the documents equals the files that it is said to come from:
# check_documents.sh
#
# In writing-a-channel.md, writing-a-model.md, writing-a-node.md, record.md, parameters.md and
# generated-code.md a line `docs/examples/FILE`: comes before each block, and the blocks of a file, in their order, are the
# file. In loco(7) the text after .\" docs/examples/FILE is the file. Blank lines are ignored.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

compare() { # FILE DOCUMENT
    grep -v '^$' "$1" >"$work/file"
    grep -v '^$' "$work/text" >"$work/shown" || true
    if diff -u "$work/file" "$work/shown"; then
        echo "  ok: $2 shows $1"
    else
        echo "  FAILED: $2 does not show $1"
        failed=1
    fi
}

for document in docs/writing-a-channel.md docs/writing-a-model.md docs/writing-a-node.md docs/record.md docs/parameters.md docs/generated-code.md; do
    for file in $(sed -n 's/^`\(docs\/examples\/.*\)`:$/\1/p' $document | sort -u); do
        awk -v file="$file" '
            /^`docs\/examples\/.*`:$/ { ours = $0 == "`" file "`:" }
            /^```/ { inside = !inside && ours && /^```(c|make|yaml|python|xml)$/; next }
            inside' $document >"$work/text"
        compare "$file" $document
    done
    named=$(grep -c '^`docs/examples/.*`:$' $document)
    blocks=$(grep -cE '^```(c|make|yaml|python|xml)$' $document)
    if [ "$named" != "$blocks" ]; then
        echo "  FAILED: $document has $blocks blocks of code, and $named of them say of which file"
        failed=1
    fi
done

page=docs/man/loco.7
file=$(sed -n 's/^\.\\" \(docs\/examples\/.*\)$/\1/p' $page)
sed -n '/^\.\\" docs\/examples/,/^\.Ed/p' $page | sed '1,2d; $d; s/^\\&//; s/\\e/\\/g' >"$work/text"
compare "$file" $page
exit $failed
