#!/usr/bin/env python3
"""How each measure of a run answered its start, until its reference first changed.

    start_up.py results/first

Overshoot and settling time are those of docs/figures.md, for a measure without a band of its own.
"""
import sys

import h5py
import numpy


def measures(record):
    """Each measure's name and unit, its time, its value and its reference."""
    for node in (group for group in record.values() if "time_s" in group):
        by_role = {}
        for column in node.values():
            by_role[column.attrs.get("measure"), column.attrs.get("role")] = column
        for (name, role), value in by_role.items():
            if role == "value" and (name, "reference") in by_role:
                reference = by_role[name, "reference"]
                yield name, value.attrs["unit"], node["time_s"][:], value[:], reference[:]


def overshoot_pct(value, reference):
    change = reference[-1] - value[0]
    extreme = value.max() if change > 0 else value.min()
    return max(100 * (extreme - reference[-1]) / change, 0)


def settling_ms(time_s, value, reference):
    """None where it does not stay in the band for a tenth of the time, and for five samples."""
    outside = numpy.flatnonzero(abs(value - reference) > 0.02 * abs(reference))
    first = outside[-1] + 1 if len(outside) else 0
    if first + 5 > len(value) or time_s[-1] - time_s[first] < time_s[-1] / 10:
        return None
    return 1e3 * time_s[first] if first else 0


with h5py.File(f"{sys.argv[1]}/trace.h5") as record:
    print(record.attrs["scenario"], "in", record.attrs["mode"], "time")
    for name, unit, time_s, value, reference in measures(record):
        changes = numpy.flatnonzero(numpy.diff(reference)) + 1
        until = changes[0] if len(changes) else len(value)
        time_s, value, reference = time_s[:until], value[:until], reference[:until]
        print(f"{name}: from {value[0]:.6g} to {reference[-1]:.6g} {unit}", end=", ")
        if abs(reference[-1] - value[0]) <= 0.02 * abs(reference[-1]):
            print("no change")
            continue
        settled = settling_ms(time_s, value, reference)
        print(f"overshoot {overshoot_pct(value, reference):.6g} %", end=", ")
        print("not settled" if settled is None else f"settled after {settled:.6g} ms")
