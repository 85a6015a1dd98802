#!/usr/bin/python3
"""Breaks one function of the channels, in whatever file it is, and prints the file's name.

    mutate.py MUTANT TREE

A mutant has a head, whose last line is `function: NAME`, and then lines as of a patch: those that
begin with "-" go, and those that begin with "+" come in their place. Those that begin with a space
stay, and say where that is. The function has the lines that are there before once.
"""
import pathlib
import re
import sys


def definitions(name, tree):
    """Each definition of the function: its file, the text before it, its own, and that after it."""
    pattern = re.compile(rf"^(?=\w)[^;{{}}]*?\b{name}\([^;{{}}]*\)\n{{\n.*?^}}\n", re.M | re.S)
    for file in sorted(pathlib.Path(tree, "channels").rglob("*.[ch]")):
        text = file.read_text()
        for found in pattern.finditer(text) if name in text else ():
            yield file, text[:found.start()], found.group(), text[found.end():]


def mutate(mutant, tree):
    head, name, body = re.fullmatch(r"(.*)^function: (\w+)\n(.*)", mutant.read_text(), re.M | re.S).groups()
    before, after = ("".join(f"\n{line[1:]}" for line in body.splitlines() if line[:1] in signs) + "\n"
                     for signs in (" -", " +"))
    places = [found for found in definitions(name, tree) if before in found[2]]
    if len(places) != 1 or places[0][2].count(before) != 1 or before == "\n":
        sys.exit(f"{mutant}: not one place in a function {name}() has the lines")
    file, above, function, below = places[0]
    file.unlink()  # it may be another name of the sound one
    file.write_text(above + function.replace(before, after) + below)
    print(file.relative_to(tree))


if __name__ == "__main__":
    mutate(*map(pathlib.Path, sys.argv[1:]))
