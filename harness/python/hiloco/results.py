"""What runs, sweeps and comparisons leave."""

from __future__ import annotations

import html
import os
import pathlib
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from . import command
from .errors import Error, NotInstalledError, RefusedError, RunError, refusal
from .summary import Attributes, parse

if TYPE_CHECKING:
    from .record import Event, Record, Signal


class Folder:
    """A folder of results: the one that was asked for, or a temporary one that is removed with the
    last object that has it."""

    def __init__(self, out: str | os.PathLike[str] | None):
        if out is not None:
            self.path = pathlib.Path(out).absolute()
            return
        self._made = tempfile.mkdtemp(prefix="hiloco-")
        self.path = pathlib.Path(self._made) / "results"
        weakref.finalize(self, _remove, self._made, os.getpid())


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # not in a child that was forked
        shutil.rmtree(folder, ignore_errors=True)


def figures_of(folder: pathlib.Path, to: str | os.PathLike[str] | None, *options: str) -> Figures:
    """Has hiloco plot draw the figures of results."""
    where = ["--to", os.fspath(to)] if to is not None else []
    if to is not None:
        os.makedirs(to, exist_ok=True)
    done = command.call(["plot", *where, *options, "--", str(folder)])
    if done.returncode:
        raise refusal(done.stderr) if done.returncode == 2 else Error(done.stderr.strip())
    drawn = (line.rpartition(".png, ")[0] for line in done.stderr.splitlines())
    return Figures(pathlib.Path(name + ".png") for name in drawn if name)


class Figures(list[pathlib.Path]):
    """The files of figures, as PNG; each has an SVG beside it. A notebook shows them."""

    def _repr_html_(self) -> str:
        import base64

        images = (base64.b64encode(path.read_bytes()).decode() for path in self)
        return "".join(f'<img src="data:image/png;base64,{image}">' for image in images)


class Run:
    """The results of a run, in the folder `dir`. `run["motor.current_a"]` is a recorded signal, and
    `run["cell[*].voltage_v"]` an array of them; measures and references have names like `speed` and
    `speed.reference`. Where several nodes recorded a signal, it is that with the most rows; the
    others have names like `NODE/SIGNAL`."""

    def __init__(self, dir: str | os.PathLike[str]):
        """The results that are in a folder already."""
        self._folder = Folder(dir)
        self._summary: Attributes | None = None
        self._record: Record | None = None
        self.messages = ""
        """What hiloco said beside: warnings, and findings about the machine."""
        if not self.dir.is_dir():
            raise Error(f"{self.dir}: there is no such folder")

    @property
    def dir(self) -> pathlib.Path:
        return self._folder.path

    @property
    def summary(self) -> Attributes:
        """summary.json, whose keys are attributes (docs/summary.md)."""
        if self._summary is None:
            try:
                self._summary = parse((self.dir / "summary.json").read_text("utf-8"))
            except OSError as error:
                raise Error(f"{error.filename}: {error.strerror}") from None
            except ValueError as error:
                raise Error(f"{self.dir / 'summary.json'}: it is damaged: {error}") from None
        return self._summary

    @property
    def verdict(self) -> str:
        """passed, failed, inconclusive or error (docs/limits.md)."""
        return str(self.summary["verdict"])

    @property
    def valid(self) -> bool:
        """Whether the run can be believed (docs/validity.md)."""
        return bool(self.summary["validity"]["valid"])

    @property
    def why(self) -> list[str]:
        """Why the verdict is not `passed`: the limits that were not kept or could not be judged, and
        why the run is not valid."""
        limits = [f"{limit['name']}: {limit['words']}" for limit in self.summary.get("limits", ())
                  if limit["verdict"] not in ("passed", "skipped")]
        return limits + [str(reason) for reason in self.summary["validity"].get("reasons", ())]

    # --- the record -----------------------------------------------------------------------

    @property
    def record(self) -> Record:
        if self._record is None:
            from .record import Record

            self._record = Record(self.dir)
        return self._record

    @property
    def signals(self) -> list[str]:
        """The names of what was recorded."""
        return self.record.names()

    @property
    def events(self) -> list[Event]:
        """What happened at the steps of the nodes, in the order of the record."""
        return self.record.events()

    def __getitem__(self, name: str) -> Signal:
        return self.record.read(name)

    def __contains__(self, name: object) -> bool:
        return name in self.signals

    def __iter__(self) -> Iterator[str]:
        return iter(self.signals)

    def to_pandas(self, *names: str) -> Any:
        """A pandas.DataFrame of these signals, or of all, over the times of all of them, s; a value
        is missing where a signal has no row at that time."""
        pandas = optional("pandas", "python3-pandas")
        frames = []
        for name in names or self.signals:
            signal = self[name]
            if signal.ndim == 1:
                columns = {name: signal}
            else:
                columns = {name.replace("[*]", f"[{i}]"): signal[:, i]
                           for i in range(signal.shape[1])}
            index = pandas.Index(signal.time_s, name="time_s")
            frames.append(pandas.DataFrame({key: value.view() for key, value in columns.items()},
                                           index=index))
        return pandas.concat(frames, axis=1).sort_index()

    # --- figures --------------------------------------------------------------------------

    def plot(self, *names: str, to: str | os.PathLike[str] | None = None) -> Any:
        """Without names: has `hiloco plot` draw the figures of the run, into the folder `to` or that
        of the results, and returns their files. With names: a matplotlib figure of these signals,
        those of a unit in one panel."""
        if not names:
            return figures_of(self.dir, to)
        pyplot = optional("matplotlib.pyplot", "python3-matplotlib")
        signals = [self[name] for name in names]
        units = list(dict.fromkeys(signal.unit for signal in signals))
        figure, panels = pyplot.subplots(len(units), sharex=True, squeeze=False)
        for signal in signals:
            panel = panels[units.index(signal.unit)][0]
            panel.plot(signal.time_s, signal, label=signal.name)
            panel.set_ylabel(signal.unit)
            panel.legend()
        panels[-1][0].set_xlabel("time, s")
        return figure

    def report(self, to: str | os.PathLike[str] | None = None) -> pathlib.Path:
        """Writes the results as one HTML file, report.html in `to` or the folder of the results."""
        where = ["--to", os.fspath(to)] if to is not None else []
        done = command.call(["report", *where, "--", str(self.dir)])
        if done.returncode:
            raise refusal(done.stderr) if done.returncode == 2 else Error(done.stderr.strip())
        return pathlib.Path(to if to is not None else self.dir) / "report.html"

    def __repr__(self) -> str:
        try:
            return f"<Run of {self.summary['scenario']}: {self.verdict}, in {self.dir}>"
        except (Error, KeyError):
            return f"<Run without a summary, in {self.dir}>"

    def _repr_html_(self) -> str:
        try:
            return _run_html(self.summary)
        except (Error, KeyError):
            return html.escape(repr(self))


_FIGURES = ("final", "settling_ms", "overshoot_pct", "mean", "pp")


def _shown(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _table(head: tuple[str, ...], rows: list[list[Any]]) -> str:
    def cells(tag: str, values: Any) -> str:
        return "".join(f"<{tag}>{html.escape(_shown(value))}</{tag}>" for value in values)

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table><tr>{cells('th', head)}</tr>{body}</table>" if rows else ""


def _run_html(summary: Attributes) -> str:
    measures = [[name, measure.get("unit", ""), *(measure.get(key) for key in _FIGURES)]
                for name, measure in summary.get("measures", {}).items()]
    limits = [[limit["name"], limit["verdict"], limit["words"]] for limit in summary.get("limits", ())]
    reasons = "".join(f"<li>{html.escape(str(reason))}</li>"
                      for reason in summary["validity"].get("reasons", ()))
    head = f"{summary['scenario']}, {summary['mode']}: {summary['verdict']}"
    return (f"<b>{html.escape(head)}</b><ul>{reasons}</ul>" + _table(("measure", "unit", *_FIGURES), measures)
            + _table(("limit", "verdict", "result"), limits))


def optional(module: str, package: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        raise NotInstalledError(f"this needs {module.partition('.')[0]}, Debian's package {package}") from None


observers: list[Callable[[Run], None]] = []
"""They are told of each run that has ended: by the plugin of pytest."""


def tell(run: Run) -> None:
    for observer in observers:
        observer(run)


def made_run(folder: Folder, messages: str) -> Run:
    run = Run.__new__(Run)
    run._folder, run._summary, run._record, run.messages = folder, None, None, messages
    tell(run)
    return run


def finished(status: int, said: str, folder: Folder) -> Run:
    """The run whose command has ended with this status."""
    if status == 2:
        raise refusal(said)
    run = made_run(folder, said)
    if status in (0, 3, 4):
        return run
    text = said.strip() or ("the run was interrupted" if status > 128 or status < 0 else "the run failed")
    raise RunError(text, status, run if folder.path.is_dir() else None)


# --- sweeps ---------------------------------------------------------------------------------


class Point(NamedTuple):
    """A run of a sweep."""

    values: Attributes
    """The value of each key, as a text."""
    status: int | None
    """The exit status of the run; None: it was not run."""
    run: Run | None
    """Its results; None: it left none."""

    @property
    def verdict(self) -> str:
        return self.run.verdict if self.run is not None else "error"


class Sweep:
    """The results of a sweep, in the folder `dir`: a sequence of its points."""

    def __init__(self, folder: Folder, messages: str = ""):
        self._folder, self.messages = folder, messages
        try:
            self.index: Attributes = parse((self.dir / "sweep.json").read_text("utf-8"))
        except OSError as error:
            raise Error(f"{error.filename}: {error.strerror}") from None
        self.points = [self._point(point) for point in self.index["points"]]

    def _point(self, point: Attributes) -> Point:
        run = None
        if point["summary"] is not None:
            run = Run(self.dir / point["dir"])
            run._summary = point["summary"]
            run._sweep = self._folder  # type: ignore[attr-defined]  # it stays while its run does
            tell(run)
        values = Attributes(zip(self.index["keys"], point["values"], strict=True))
        return Point(values, point["status"], run)

    @property
    def dir(self) -> pathlib.Path:
        return self._folder.path

    @property
    def bisection(self) -> Attributes | None:
        """With `bisect`: the edge of what passes (docs/sweep.md)."""
        return self.index.get("bisection")

    @property
    def distributions(self) -> list[Attributes]:
        """With drawn values: the distribution of each figure (docs/sweep.md)."""
        return list(self.index.get("distributions", ()))

    def plot(self, to: str | os.PathLike[str] | None = None) -> Figures:
        """Has `hiloco plot` draw the figures of the sweep, and returns their files."""
        return figures_of(self.dir, to)

    def to_pandas(self) -> Any:
        """sweep.csv, the table of the runs, as a pandas.DataFrame."""
        return optional("pandas", "python3-pandas").read_csv(self.dir / "sweep.csv")

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def __getitem__(self, at: int) -> Point:
        return self.points[at]

    def __repr__(self) -> str:
        return f"<Sweep of {len(self)} runs, in {self.dir}>"

    def _repr_html_(self) -> str:
        keys = tuple(self.index["keys"])
        rows = [[*(point.values.get(key) for key in keys), point.verdict] for point in self.points]
        return _table((*keys, "verdict"), rows)


# --- comparisons ----------------------------------------------------------------------------


class Comparison(Attributes):
    """How the records of two runs differ. It is true if they agree: `assert hiloco.compare(a, b)`.
    `signals` has an entry for each signal: `signal`, `unit`, `rows`, `apart`, `greatest`, `rms`,
    `at_s`, `a`, `b`; or `only_in`. `events` has the events that differ; None: a record has none."""

    def __bool__(self) -> bool:
        return bool(self["equal"])

    def differing(self) -> list[Attributes]:
        """The signals that do not agree."""
        return [one for one in self["signals"] if one.get("apart") != 0 or one.get("rows") == 0]

    def __repr__(self) -> str:
        names = ", ".join(str(one["signal"]) for one in self.differing()) or "none"
        return f"<Comparison: {'equal' if self else 'not equal'}; signals that differ: {names}>"


def compare(a: Run | str | os.PathLike[str], b: Run | str | os.PathLike[str], *,
            absolute: float | None = None, relative_pct: float | None = None,
            within_s: float | None = None, from_s: float | None = None,
            until_s: float | None = None) -> Comparison:
    """Compares the records of two runs, signal by signal. Values agree if they differ by at most
    `absolute`, in the signal's unit, plus `relative_pct` percent of a's value; events if they are at
    most `within_s` apart. Only what is from `from_s` to `until_s` counts, s from the start."""
    options = {"abs": absolute, "rel": relative_pct, "within": within_s, "from": from_s, "until": until_s}
    arguments = [f"--{key}={float(value)!r}" for key, value in options.items() if value is not None]
    folders = [str(one.dir if isinstance(one, Run) else pathlib.Path(one).absolute()) for one in (a, b)]
    with tempfile.TemporaryDirectory(prefix="hiloco-") as figures:
        done = command.call(["compare", "--json", "--to", figures, *arguments, "--", *folders])
    if done.returncode == 2:
        raise refusal(done.stderr)
    try:
        return Comparison(parse(done.stdout))
    except ValueError:
        raise Error(done.stderr.strip() or "the records cannot be compared") from None


__all__ = ["Comparison", "Figures", "Point", "Run", "Sweep", "compare", "RefusedError"]
