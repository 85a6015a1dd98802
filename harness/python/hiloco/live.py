"""Runs that go on: start one or attach to one, watch it, and change it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import tempfile
import time
import weakref
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import command
from .command import Scenario
from .errors import Error, NoRunError, RunError, refusal
from .results import Folder, Run, finished, made_run
from .runs import Parameters, run_arguments
from .summary import Attributes, parse, unknown

if TYPE_CHECKING:
    from .record import Signal

_POLL_S = 0.02


class Capture(Attributes):
    """Every step of some signals around a trigger: `capture.signal("motor.current_a")`. `trigger`
    says what it was, or is None; `from_s` and `to_s` are the times that it spans, and `lost` is how
    many steps in between were not seen."""

    def signal(self, name: str) -> Signal:
        from .record import Signal
        from .errors import SignalError

        for trace in self["traces"]:
            if trace["name"] == name:
                return Signal(trace["values"], trace["times_s"], name, trace["unit"], "", trace["node"])
        raise SignalError(unknown("signal", name, [trace["name"] for trace in self["traces"]]))


class Live:
    """A run that goes on. As a context manager it ends with its block, whatever ends that."""

    def __init__(self, folder: Folder, process: subprocess.Popen[str] | None, said: Any):
        self._folder, self._process, self._said = folder, process, said
        self._owner = os.getpid()
        if process is not None:
            self._finalizer = weakref.finalize(self, _end_if_mine, process, self._owner)

    @property
    def dir(self) -> pathlib.Path:
        """The folder of the results."""
        return self._folder.path

    # --- asking it ------------------------------------------------------------------------

    def _ask(self, arguments: list[str], tail: list[str] = []) -> str:
        done = command.call([*arguments, "--", str(self.dir), *tail])
        if done.returncode == 2:
            raise refusal(done.stderr or _refused(done.stdout))
        if done.returncode:
            raise NoRunError(done.stderr.strip() or _refused(done.stdout))
        return done.stdout

    def state(self) -> Attributes:
        """What `hiloco top --json` tells: `state` (run, paused, ...), `elapsed_s`, `measure`, `nodes`."""
        told: Attributes = parse(self._ask(["top", "--json", "--count=1"]).splitlines()[0])
        return told

    def settable(self) -> Attributes:
        """What may be set: `parameters` and `sources`, with values, units and ranges."""
        told: Attributes = parse(self._ask(["set", "--json"]))
        return told

    def set(self, name: str | Mapping[str, float | str], value: float | str | None = None, *,
            ramp_s: float | None = None) -> list[Attributes]:
        """Sets a parameter, `COMPONENT.PARAMETER`, or a source; or several at one time of the run, as
        a dict. A value may be a text with a unit, "40mOhm". `ramp_s` is how long a source takes to
        change, s. Returns for each change the `node`, `step` and `time_s` at which it was made; in a
        paused run there are none yet.

        Raises RefusedError for a name or a value that is not allowed, and nothing is changed;
        NoRunError if the run has ended or allows no changes."""
        if isinstance(name, Mapping):
            changes = dict(name)
        elif value is None:
            raise TypeError("set() needs a name and a value, or a dict of them")
        else:
            changes = {name: value}
        ramp = [] if ramp_s is None else [f"--ramp={float(ramp_s)!r}"]
        words = [f"{key}={number if isinstance(number, str) else repr(float(number))}"
                 for key, number in changes.items()]
        if not words:
            return []
        return list(parse(self._ask(["set", "--json", *ramp], words)).get("applied", ()))

    def signals(self) -> list[str]:
        """The names of all signals of the run, with the measures."""
        listed = self._ask(["scope", "--capture=?"])
        return [line.split("  ")[0] for line in listed.splitlines() if line]

    def capture(self, signals: str | Iterable[str], *, trigger: str = "free", before_s: float = 0.01,
                after_s: float = 0.01, hysteresis: float | None = None, wait_s: float | None = None,
                auto: bool = False) -> Capture:
        """Captures every step of up to 16 signals around a trigger: "free" for now, "SIGNAL>LEVEL",
        "SIGNAL<LEVEL", "SIGNAL<>LEVEL", "miss", "fault" or "age" (docs/scope.md). Waits for it until
        the run ends, or for `wait_s` seconds; `auto` then captures what there is.

        Raises NoRunError if no trigger comes, RefusedError for a signal that there is not."""
        names = [signals] if isinstance(signals, str) else list(signals)
        options = [f"--capture={','.join(names)}", f"--trigger={trigger}", "--quiet",
                   f"--before={float(before_s)!r}", f"--after={float(after_s)!r}"]
        options += [] if hysteresis is None else [f"--hysteresis={float(hysteresis)!r}"]
        options += [] if wait_s is None else [f"--wait={float(wait_s)!r}"]
        options += ["--auto"] if auto else []
        with tempfile.TemporaryDirectory(prefix="hiloco-") as folder:
            file = pathlib.Path(folder) / "capture.json"
            self._ask(["scope", *options, f"--out={file}"])
            return Capture(parse(file.read_text("utf-8")))

    def read(self, name: str) -> float:
        """The newest value of a signal. An array of them has a name for each: cell[3].voltage_v."""
        nodes = self.state()["nodes"].values()
        for period_us in sorted({node["period_us"] for node in nodes if node["period_us"]}):
            values = self.capture(name, before_s=1.5e-6 * period_us, after_s=0, wait_s=0.1,
                                  auto=True).signal(name)
            if len(values):
                return float(values[-1])
        raise NoRunError(f"{name} has no value yet")

    # --- time -----------------------------------------------------------------------------

    def _control(self, *what: str) -> Attributes:
        told: Attributes = parse(self._ask(["control", "--json"], list(what)))
        return told

    def pause(self) -> Attributes:
        """Stops virtual time before its next instant. Returns `paused` and `time_s`."""
        return self._control("pause")

    def step(self, count: int = 1) -> Attributes:
        """Runs a paused run for so many instants, times at which any node steps."""
        return self._control("step", str(int(count)))

    def resume(self) -> Attributes:
        """Ends the pause."""
        return self._control("resume")

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        if self._process is not None:
            return self._process.poll() is None
        try:
            self.state()
        except NoRunError:
            return False
        return True

    def wait(self, timeout_s: float | None = None) -> Run:
        """Waits for the end of the run. Raises as hiloco.run() does, and TimeoutError if it goes on
        after `timeout_s` seconds."""
        until = None if timeout_s is None else time.monotonic() + timeout_s
        while self.running:
            if until is not None and time.monotonic() >= until:
                raise TimeoutError(f"the run goes on after {timeout_s} s")
            time.sleep(_POLL_S)
        return self.run()

    def run(self) -> Run:
        """The results of a run that has ended."""
        if self.running:
            raise Error("the run goes on; wait() or stop() end it")
        if self._process is None:
            return made_run(self._folder, "")
        return finished(self._process.returncode, self._text(), self._folder)

    def stop(self) -> Run:
        """Ends the run in order, like Ctrl-C, and returns its results."""
        if self._process is not None:
            command.end(self._process)
        elif self.running:
            self._control("stop")
            while self.running:
                time.sleep(_POLL_S)
        return made_run(self._folder, self._text())

    def _text(self) -> str:
        if self._said is None:
            return ""
        self._said.seek(0)
        return str(self._said.read())

    def __enter__(self) -> Live:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._process is not None and os.getpid() == self._owner:
            command.end(self._process)

    def __repr__(self) -> str:
        return f"<Live run in {self.dir}>"


def _end_if_mine(process: subprocess.Popen[str], owner: int) -> None:
    if os.getpid() == owner:
        command.end(process)


def _refused(answer: str) -> str:
    try:
        told = parse(answer)
    except ValueError:
        return answer.strip()
    return str(told.get("refused", answer.strip())) if isinstance(told, dict) else answer.strip()


def start(scenario: Scenario, *, set: Mapping[str, Any] | None = None, mode: str | None = None,
          out: str | os.PathLike[str] | None = None, parameters: Parameters = None,
          junit: str | os.PathLike[str] | None = None, allow_set: bool = False,
          folder: str | os.PathLike[str] | None = None) -> Live:
    """Starts a run, and returns once it can be watched, or has ended. With `allow_set` it can be
    changed, paused and stepped. The other arguments are those of hiloco.run().

    Use it as a context manager, or call its wait() or stop(): the run ends with the block, by an
    exception and by Ctrl-C, too; and with Python."""
    named, text = command.scenario_argument(scenario)
    options = command.common_options(mode, parameters) + command.set_options(set)
    options += ["--allow-set"] if allow_set else []
    options += [] if junit is None else [f"--junit={os.path.abspath(junit)}"]
    results = Folder(out)
    said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
    process = command.start_with_text(run_arguments(results.path, options, named), text,
                                      subprocess.DEVNULL, said, folder if text is not None else None)
    live = Live(results, process, said)
    try:
        while process.poll() is None:
            try:
                if live.state()["nodes"]:
                    break
            except NoRunError:
                pass
            time.sleep(_POLL_S)
    except BaseException:
        command.end(process)
        raise
    if process.poll() == 2 or process.poll() == 1:
        live.run()  # raises
    return live


def attach(run: str | os.PathLike[str] | Run | Live) -> Live:
    """A run that something else has started, by its folder of results. It goes on when a block ends.
    Raises NoRunError if there is none."""
    live = Live(Folder(run.dir if isinstance(run, (Run, Live)) else run), None, None)
    live.state()
    return live


__all__ = ["Capture", "Live", "RunError", "attach", "start"]
