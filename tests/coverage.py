#!/usr/bin/env python3
"""Prints how much of channels/ and harness/run was executed, and the largest functions that were not.

    coverage.py BUILD       a build with --coverage whose tests have run
"""
import json
import subprocess
import sys

SHOWN = 20
FOLDERS = ("channels/", "harness/run/")

said = subprocess.run(["gcovr", "--json", "--exclude-throw-branches", "--gcov-ignore-parse-errors",
                       *(f"--filter={folder}" for folder in FOLDERS), sys.argv[1]],
                      check=True, capture_output=True, text=True).stdout
files = {file["file"]: file for file in json.loads(said)["files"]}


def share(done, all_of_them):
    return f"{done:6} of {all_of_them:6} {100 * done / max(all_of_them, 1):6.1f} %"


def executed(things):
    return sum(thing["count"] > 0 for thing in things), len(things)


for folder in FOLDERS:
    lines = [line for name, file in files.items() if name.startswith(folder) for line in file["lines"]]
    branches = [branch for line in lines for branch in line["branches"]]
    print(f"{folder:14} lines {share(*executed(lines))}   branches {share(*executed(branches))}")

missed = {}
for name, file in files.items():
    starts = sorted((function["lineno"], function["name"]) for function in file.get("functions", []))
    for line in file["lines"]:
        of = [start for start in starts if start[0] <= line["line_number"]]
        if line["count"] == 0 and of:
            place = (name, *of[-1])
            missed[place] = missed.get(place, 0) + 1
print(f"the {SHOWN} functions with the most lines that were not executed:")
for (name, line, function), count in sorted(missed.items(), key=lambda item: -item[1])[:SHOWN]:
    print(f"{count:6}  {name}:{line}: {function}")
