#!/usr/bin/env python3
"""Checks each YAML block of the documents with `hiloco check`.

    documents_yaml.py HILOCO [DOCUMENT...]

Without a name all documents are checked.

A block is a whole scenario, unless a line above its fence says otherwise:

    <!-- in FILE -->        it is checked inside this scenario: its keys take the place of those there,
                            down to the second level
    <!-- a part: REASON --> only its syntax and its keys are checked

Files that the block names need not be there, and its cores need not be this machine's. A block that is
only indented is refused, because whoever wraps the text would wrap it, too.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

FRAME = "name: part\nduration_s: 1\nnodes:\n  part: {period_us: 1000}\ncomponents:\n  part: {model: gain, node: part}\n"
OF_THE_PLACE = re.compile(r"[Nn]o such (file|device)|a cpu that is allowed here")
OF_THE_TEXT = re.compile(r"unknown key|YAML|twice|allowed: a (mapping|list)")


def blocks(path):
    """The line number, the text and the marker of each block, None in place of the text of an indented one."""
    lines, marker, inside = open(path).read().split("\n"), "", None
    for number, line in enumerate(lines, 1):
        if inside is not None and line.startswith("```"):
            if inside[0]:
                yield inside[1], "\n".join(lines[inside[1]:number - 1]) + "\n", marker
            inside, marker = None, ""
        elif inside is None and line.startswith("```"):
            inside = (line == "```yaml", number)
        elif inside is None and re.match(r"    [a-z_]+:$", line):
            yield number, None, ""
        elif inside is None:
            marker = line


def keys(text, indent):
    """The text in front of the first key at this depth, and the lines of each key."""
    parts = re.split(r"^(?=%s[\w.-]+:)" % (" " * indent), text, flags=re.M)
    return parts[0], {part.split(":")[0].strip(): part for part in parts[1:]}


def inside(base, block, indent=0):
    front, old = keys(base, indent)
    _, new = keys(block, indent)
    for name, text in new.items():
        both = indent == 0 and name in old and keys(text, 2)[1] and keys(old[name], 2)[1]
        old[name] = inside(old[name], text, 2) if both else text
    return front + "".join(text if text.endswith("\n") else text + "\n" for text in old.values())


def mistakes(hiloco, text, folder, allowed):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", dir=folder, delete=False) as file:
        file.write(text)
    check = subprocess.run([hiloco, "check", file.name], capture_output=True, text=True)
    os.unlink(file.name)
    said = [line for line in check.stderr.splitlines() if line.startswith(file.name)]
    if check.returncode and not said:
        return [check.stderr]
    return [line[len(file.name) + 1:] for line in said if allowed(line)]


def check_block(hiloco, text, marker):
    named = re.fullmatch(r"<!-- in (\S+) -->", marker)
    if re.fullmatch(r"<!-- a part: .+ -->", marker):
        return mistakes(hiloco, inside(FRAME, text), None, OF_THE_TEXT.search)
    if named:
        text = inside(open(named[1]).read(), text)
    folder = os.path.dirname(named[1]) if named else None
    with tempfile.TemporaryDirectory() as copy:
        for name in os.listdir(folder) if folder else []:
            os.symlink(os.path.abspath(os.path.join(folder, name)), os.path.join(copy, name))
        return mistakes(hiloco, text, copy, lambda line: not OF_THE_PLACE.search(line))


def main(hiloco, *documents):
    failed = checked = 0
    for path in documents or ["README.md", *sorted(glob.glob("docs/*.md"))]:
        for number, text, marker in blocks(path):
            said = ["an indented block of YAML: a fence, ```yaml, keeps its lines"]
            if text is not None:
                said = check_block(hiloco, text, marker)
                checked += 1
            for line in said:
                print(f"{path}:{number}: {line}", file=sys.stderr)
            failed += bool(said)
    print(f"{checked} blocks are right" if not failed else f"{failed} blocks are wrong")
    return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
