#!/usr/bin/python3
"""Compares two files of results of `build/bench --out`.

    compare.py A.json B.json

For each benchmark of both: its medians, B's divided by A's, and whether B is better. They are alike
where the spreads of their runs overlap, and nothing is sure of a single run. "to other" is the ratio
to what each was measured beside in its own run: a machine that has become slower as a whole changes
it less.
"""
import json
import sys

FEW = 8  # names that are worth a line


def fail(what):
    print(f"bench-compare: {what}", file=sys.stderr)
    sys.exit(2)


def load(path):
    """The whole, and the results by name."""
    try:
        with open(path, encoding="utf-8") as file:
            whole = json.load(file)
        rows = {row["name"]: row for row in whole["results"]}
        dict(whole["machine"])
        for row in rows.values():
            if "skipped" not in row and row["value"] is None:
                row["skipped"] = "no number"
            elif "skipped" not in row:
                _ = row["value"] + row["spread"][0] + row["spread"][1], row["unit"], \
                    row["more_is_better"], row["runs"]
    except OSError as error:
        fail(f"{path}: {error.strerror}")
    except ValueError as error:
        fail(f"{path}: not JSON: {error}")
    except (KeyError, TypeError, IndexError):
        fail(f"{path}: these are no results of build/bench --out")
    return whole, rows


def describe(name, path, machine):
    facts = [machine.get("cpu", "?"), f"{machine.get('cores', '?')} cores", machine.get("kernel", "?"),
             machine.get("date", "?")]
    if "steal_percent" in machine:
        facts.append(f"steal {machine['steal_percent']:.1f} %")
    print(f"{name}  {path}: {', '.join(facts)}")


def figure(value):
    """Four significant digits."""
    return f"{value:.{max(0, 4 - len(str(int(abs(value)))))}f}"


def verdict(a, b):
    if 1 in (a["runs"], b["runs"]):
        return "unsure"
    (low_a, high_a), (low_b, high_b) = a["spread"], b["spread"]
    if low_a <= high_b and low_b <= high_a:
        return "alike"
    return "better" if (b["value"] > a["value"]) == b["more_is_better"] else "worse"


def to_other(a, b):
    ratios = [row.get("ratio") for row in (a, b)]
    return "" if None in ratios else f"{ratios[0]:.2f} -> {ratios[1]:.2f}"


def notes(a, b):
    return "".join(f"  {name} left out {100 * row['left_out']:.3g} % of its steps"
                   for name, row in (("A", a), ("B", b)) if row.get("left_out"))


def compare(a, b):
    """Prints a line. Returns its verdict."""
    for name, row in (("A", a), ("B", b)):
        if "skipped" in row:
            print(f"{a['name']:36} {name} skipped: {row['skipped']}")
            return "skipped"
    found = verdict(a, b)
    change = f"{b['value'] / a['value']:.2f}" if a["value"] else "-"
    print(f"{a['name']:36} {figure(a['value']):>9} {figure(b['value']):>9} {a['unit']:5} {change:>6}  "
          f"{found:7} {to_other(a, b)}{notes(a, b)}".rstrip())
    return found


def main():
    if len(sys.argv) != 3:
        fail("expected two files of results, as in: make bench-compare A.json B.json")
    (a, rows_a), (b, rows_b) = load(sys.argv[1]), load(sys.argv[2])
    describe("A", sys.argv[1], a["machine"])
    describe("B", sys.argv[2], b["machine"])
    if a.get("options") != b.get("options"):
        print(f"The options differ: A {a.get('options')}, B {b.get('options')}")
    print(f"\n{'benchmark':36} {'A':>9} {'B':>9} {'':5} {'B/A':>6}  {'B is':7} to other")
    found = [compare(row, rows_b[name]) for name, row in rows_a.items() if name in rows_b]
    print("\n" + ", ".join(f"{found.count(word)} {word}" for word in ("better", "worse", "alike", "unsure", "skipped")))
    for name, rows, others in (("A", rows_a, rows_b), ("B", rows_b, rows_a)):
        alone = [row for row in rows if row not in others]
        if alone:
            print(f"only in {name}: {', '.join(alone[:FEW])}" +
                  (f", and {len(alone) - FEW} more" if len(alone) > FEW else ""))


main()
