"""Reads trace.h5, the record of a run, whose layout docs/record.md describes."""

from __future__ import annotations

import contextlib
import pathlib
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import h5py
import numpy

from .errors import Error, SignalError
from .summary import unknown

_ARRAY = re.compile(r"\[(\*|\d+(?:-\d+)?)\]")


class Signal(numpy.ndarray[Any, numpy.dtype[numpy.float64]]):
    """The values of a signal, an array of numpy with these attributes. A part of it, such as
    `signal[signal.time_s > 0.1]`, has the times of its rows. Of an array of signals there is a
    column for each."""

    time_s: numpy.ndarray[Any, numpy.dtype[numpy.float64]] | None
    """The times of the rows, s from the start of the run."""
    name: str
    unit: str
    doc: str
    node: str
    """The node that recorded it."""

    def __new__(cls, values: Any, time_s: Any, name: str = "", unit: str = "", doc: str = "",
                node: str = "") -> Signal:
        self = numpy.asarray(values, dtype=float).view(cls)
        self.time_s = numpy.asarray(time_s, dtype=float)
        self.name, self.unit, self.doc, self.node = name, unit, doc, node
        return self

    def __array_finalize__(self, of: Any) -> None:
        for key in ("name", "unit", "doc", "node"):
            setattr(self, key, getattr(of, key, ""))
        time_s = getattr(of, "time_s", None)
        same = time_s is not None and self.ndim > 0 and len(time_s) == len(self)
        self.time_s = time_s if same else None

    def __array_wrap__(self, values: Any, context: Any = None) -> Any:
        wrapped = super().__array_wrap__(values, context)
        return wrapped[()] if wrapped.ndim == 0 else wrapped

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        if isinstance(part, Signal) and self.time_s is not None:
            rows = key[0] if isinstance(key, tuple) and key else key
            two = isinstance(rows, numpy.ndarray) and rows.dtype == bool and rows.ndim > 1
            times = None if two or rows is Ellipsis or rows is None else self.time_s[rows]
            if rows is Ellipsis and self.ndim == part.ndim:
                times = self.time_s
            fits = isinstance(times, numpy.ndarray) and part.ndim and len(times) == len(part)
            part.time_s = times if fits else None
        return part

    def __reduce__(self) -> Any:
        return Signal, (numpy.asarray(self), self.time_s, self.name, self.unit, self.doc, self.node)


class Event(NamedTuple):
    """Something that happened at a step of a node (docs/record.md lists the kinds)."""

    time_s: float
    """When it was found, s from the start of the run; negative before it."""
    node: str
    step: int
    kind: str
    """What happened: stale, lost, fault begins, set, ..."""
    of: str
    """The node, component, signal or fault that it is about; "": the node itself."""
    value: float
    """What the kind says, such as an age, s."""


class _Column(NamedTuple):
    """Where a name's values are: a dataset, and the column of it, or None for all."""

    dataset: str
    column: int | None
    rows: int


class Record:
    """The record in the folder of a run. Values are read when they are asked for."""

    def __init__(self, folder: pathlib.Path):
        self.path = folder / "trace.h5"
        self._columns: dict[str, _Column] | None = None

    @contextlib.contextmanager
    def _file(self) -> Iterator[h5py.File]:
        if not self.path.is_file():
            raise Error(f"{self.path}: there is no record")
        try:
            file = h5py.File(self.path, "r")
        except OSError as error:
            raise Error(f"{self.path}: it cannot be read ({error}); if its run was killed, hiloco "
                        f"recover {self.path.parent} rebuilds it") from None
        with file:
            yield file

    # --- names ----------------------------------------------------------------------------

    def names(self) -> list[str]:
        """The names of all signals, arrays as a whole, and of measures and their references."""
        return [name for name in self._find() if "/" not in name]

    def _find(self) -> dict[str, _Column]:
        if self._columns is None:
            found: dict[str, _Column] = {}
            with self._file() as file:
                for dataset in _datasets(file):
                    for name, column in _names_of(dataset):
                        known = found.get(name)
                        if known is None or known.rows < dataset.shape[0]:
                            found[name] = _Column(dataset.name, column, dataset.shape[0])
            self._columns = found
        return self._columns

    def read(self, name: str) -> Signal:
        columns = self._find()
        if name not in columns:
            return self._stack(name)
        at = columns[name]
        with self._file() as file:
            dataset = file[at.dataset]
            values = dataset[...] if at.column is None else dataset[:, at.column]
            return Signal(values, dataset.parent["time_s"][...], name, _text(dataset, "unit"),
                          _text(dataset, "doc"), dataset.parent.name.lstrip("/"))

    def _stack(self, name: str) -> Signal:
        """The array of a signal that each node of an array records itself."""
        ones: list[Signal] = []
        if "[*]" in name:
            while (one := name.replace("[*]", f"[{len(ones)}]", 1)) in self._find():
                ones.append(self.read(one))
        if not ones or any(len(one) != len(ones[0]) for one in ones):
            raise SignalError(unknown("signal", name, self.names()))
        return Signal(numpy.column_stack(ones), ones[0].time_s, name, ones[0].unit, ones[0].doc,
                      ones[0].node.rpartition("/")[0])

    # --- events ---------------------------------------------------------------------------

    def events(self) -> list[Event]:
        with self._file() as file:
            if "events" not in file:
                return []
            group = file["events"]
            columns = {key: group[key][...] for key in group}
            names = {key: _text(group[key], "names").split("\n") for key in ("node", "kind", "of")}
        events = []
        for row in range(len(columns["time_s"])):
            at = {key: values[row] for key, values in columns.items()}
            kind, node, of = (names[key][int(at[key])] for key in ("kind", "node", "of"))
            of = of.replace("[*]", f"[{int(at['index'])}]").replace("[#]", f"[{int(at['place'])}]")
            events.append(Event(float(at["time_s"]), node, int(at["step"]), kind, of,
                                float(at["value"])))
        return events


def _text(of: Any, key: str) -> str:
    value = of.attrs.get(key, "")
    return value.decode() if isinstance(value, bytes) else str(value)


def _datasets(file: h5py.File) -> Iterator[h5py.Dataset]:
    """All that nodes have recorded."""
    for group in [file[name] for name in file if name not in ("events", "histograms")]:
        nodes = [group] if "time_s" in group else [group[name] for name in group]
        for node in nodes:
            if isinstance(node, h5py.Group):
                yield from (node[name] for name in node if isinstance(node[name], h5py.Dataset))


def _names_of(dataset: h5py.Dataset) -> Iterator[tuple[str, int | None]]:
    """What a dataset is called, and the column of each such name."""
    last = dataset.name.rpartition("/")[2]
    yield dataset.name.lstrip("/"), None
    if last in ("time_s", "step", "plant_time_s"):
        return
    measure, role = _text(dataset, "measure"), _text(dataset, "role")
    if role == "value":
        yield measure, None
    elif role == "reference":
        yield f"{measure}.reference", None
    signals = _text(dataset, "signals")
    if not signals:
        return
    prefix, _, name = signals.rpartition(".")
    if last.startswith("original_") or ".original_" in last:
        signals = f"{prefix}.original_{name}"
    yield signals, None
    array = _ARRAY.search(signals)
    if array and dataset.ndim == 2:
        first = array[1].partition("-")[0]
        for column in range(dataset.shape[1]):
            at = column + (0 if first == "*" else int(first))
            yield f"{signals[:array.start()]}[{at}]{signals[array.end():]}", column
