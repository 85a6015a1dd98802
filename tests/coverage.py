#!/usr/bin/python3
"""Prints how much of channels/ and harness/run was executed, and the largest functions that were not.

    coverage.py BUILD       a build with --coverage whose tests have run
"""
import collections
import json
import os
import subprocess
import sys

SHOWN = 20
PARTS = {"harness/run/": "harness/run", "channels/fabric/verbs/": "channels/fabric/verbs, which needs a device",
         "channels/": "the rest of channels"}


def gcovr(folder):
    """What gcovr says of a folder's objects. Those of the simulator are of the same sources, compiled
    otherwise: gcovr does not take a file whose functions are in other lines there."""
    said = subprocess.run(["gcovr", "--json", "--exclude-throw-branches", "--gcov-ignore-parse-errors",
                           "--filter=channels/", "--filter=harness/run/", folder],
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(said)["files"]


def executed(counts):
    return sum(count > 0 for count in counts.values()), len(counts)


def share(done, all_of_them):
    return f"{done:6} of {all_of_them:6} {100 * done / max(all_of_them, 1):6.1f} %"


lines, branches, functions = (collections.Counter() for _ in range(3))
starts = {}
for folder in os.scandir(sys.argv[1]):
    if folder.name not in ("obj", "sim", "plain"):
        continue
    for file in gcovr(folder.path):
        name = file["file"]
        for line in (line for line in file["lines"] if not line["gcovr/noncode"]):
            place = (name, line["line_number"])
            lines[place] += line["count"]
            for number, branch in enumerate(line["branches"]):
                branches[(*place, number)] += branch["count"]
        for function in file.get("functions", []):
            starts.setdefault(name, {})[function["lineno"]] = function["name"]

for part, words in PARTS.items():
    of = lambda counts: {place: n for place, n in counts.items()
                         if next(p for p in PARTS if place[0].startswith(p)) == part}
    print(f"lines {share(*executed(of(lines)))}   branches {share(*executed(of(branches)))}   {words}")

missed = collections.Counter()
for (name, number), count in lines.items():
    before = [start for start in starts.get(name, {}) if start <= number]
    if count == 0 and before and not name.startswith("channels/fabric/verbs/"):
        missed[(name, max(before), starts[name][max(before)])] += 1
print(f"the {SHOWN} functions with the most lines that were not executed:")
for (name, line, function), count in missed.most_common(SHOWN):
    print(f"{count:6}  {name}:{line}: {function}")
