"""Checks and runs scenarios."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Union

from . import command
from .command import Scenario
from .errors import Error, RefusedError, RunError, refusal
from .results import Folder, Run, Sweep, finished

Parameters = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]], None]


def check(scenario: Scenario, *, set: Mapping[str, Any] | None = None, mode: str | None = None,
          parameters: Parameters = None, folder: str | os.PathLike[str] | None = None) -> str:
    """Checks a scenario, and returns it as YAML with every key spelled out. Raises ScenarioError
    with all its mistakes. The arguments are those of run()."""
    named, text = command.scenario_argument(scenario)
    options = command.common_options(mode, parameters) + command.set_options(set)
    done = command.call(["check", *options, *named], text, folder if text is not None else None)
    if done.returncode == 2:
        raise refusal(done.stderr)
    if done.returncode:
        raise Error(done.stderr.strip())
    return done.stdout


def run_arguments(out: os.PathLike[str], options: list[str], named: list[str]) -> list[str]:
    return ["run", "--quiet", f"--out={os.fspath(out)}", *options, *named]


def run(scenario: Scenario, *, set: Mapping[str, Any] | None = None, mode: str | None = None,
        out: str | os.PathLike[str] | None = None, parameters: Parameters = None,
        junit: str | os.PathLike[str] | None = None,
        tuning: str | os.PathLike[str] | Run | None = None,
        folder: str | os.PathLike[str] | None = None) -> Run:
    """Runs a scenario to its end. The scenario is a file's path, a text, or a dict; the files that a
    dict or a text names are relative to `folder`, or else to the current folder.

    `set` changes keys by their dotted paths: {"nodes.drive.period_us": 20}. `mode` is "virtual" or
    "realtime". `out` is the folder of the results; without it they are in a temporary folder, which
    goes with the Run. `parameters` names SSV files. `junit` names a file for the verdicts. `tuning`
    is a run whose changes are replayed.

    Returns a Run, whatever its verdict is: passed, failed or inconclusive. Raises ScenarioError or
    RefusedError if something is wrong before anything runs, and RunError if the run itself fails or
    is interrupted. A Ctrl-C ends the run in order."""
    named, text = command.scenario_argument(scenario)
    options = command.common_options(mode, parameters) + command.set_options(set)
    if junit is not None:
        options.append(f"--junit={os.path.abspath(junit)}")
    if tuning is not None:
        options.append(f"--tuning={tuning.dir if isinstance(tuning, Run) else os.path.abspath(tuning)}")
    results = Folder(out)
    done = command.call(run_arguments(results.path, options, named), text,
                        folder if text is not None else None)
    return finished(done.returncode, done.stderr, results)


def _values(key: str, value: Any) -> str:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, str) or not isinstance(value, Iterable) or isinstance(value, Mapping):
        return command.value_text(value)
    texts = [command.value_text(one) for one in value]
    if not texts:
        raise RefusedError(f"{key} has no values; allowed: at least one")
    return ",".join(texts)


def sweep(scenario: Scenario, set: Mapping[str, Any] | None = None, *,
          bisect: Mapping[str, str] | None = None, runs: int | None = None, seed: int | None = None,
          mode: str | None = None, jobs: int | None = None,
          out: str | os.PathLike[str] | None = None, parameters: Parameters = None,
          junit: str | os.PathLike[str] | None = None,
          folder: str | os.PathLike[str] | None = None) -> Sweep:
    """Runs a scenario once for each value of a key, and for each combination of those of several.

    `set` has the values of each key: {"nodes.drive.period_us": [20, 40]}. A str is what the command
    line takes (docs/sweep.md): "10:100:10" is a range, "10:1000:log5" has equal ratios, "47e-6~5%" is
    drawn `runs` times from `seed`. `bisect` finds the edge of what passes in one range. The other
    arguments are those of run(); `jobs` is how many runs there are at a time.

    Returns a Sweep, whatever the verdicts of its runs are. Raises as run() does; that a run failed
    is the status of its point."""
    named, text = command.scenario_argument(scenario)
    options = command.common_options(mode, parameters)
    options += [f"--set={key}={_values(key, value)}" for key, value in command.keys_of(set).items()]
    options += [f"--bisect={key}={value}" for key, value in command.keys_of(bisect).items()]
    options += [f"--{name}={number}" for name, number in (("runs", runs), ("seed", seed), ("jobs", jobs))
                if number is not None]
    if junit is not None:
        options.append(f"--junit={os.path.abspath(junit)}")
    if not set and not bisect:
        raise RefusedError("nothing varies; allowed: values of at least one key in set, or a range in bisect")
    results = Folder(out)
    done = command.call(["sweep", f"--out={results.path}", *options, *named], text,
                        folder if text is not None else None)
    if done.returncode == 2:
        raise refusal(done.stderr)
    if done.returncode > 128 or done.returncode < 0 or not (results.path / "sweep.json").is_file():
        raise RunError(done.stderr.strip() or "the sweep was interrupted", done.returncode)
    return Sweep(results, done.stderr)
