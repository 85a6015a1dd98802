"""The plugin for pytest: the fixture `hiloco`, the marker `realtime`, scenarios with limits as
tests, and the option --hiloco-junit. docs/python.md explains it."""

from __future__ import annotations

import json
import os
import pathlib
import re
import xml.etree.ElementTree
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from . import command, results, runs
from . import live as live_runs
from .errors import Error
from .results import Comparison, Run, Sweep, compare

_TRACKED: pytest.StashKey[Tracker] = pytest.StashKey()
_RUNS: pytest.StashKey[dict[pathlib.Path, Run]] = pytest.StashKey()
_UNFIT: pytest.StashKey[str] = pytest.StashKey()
_DRAWN = 8
_HAS_LIMITS = re.compile(r"^limits[ \t]*:", re.MULTILINE)
_IS_SCENARIO = re.compile(r"^(components|controller)[ \t]*:", re.MULTILINE)
_NAME = re.compile(r"^name[ \t]*:[ \t]*[\"']?([\w.-]+)", re.MULTILINE)


class Tracker:
    """The fixture `hiloco`: its methods are the functions of the package, with results below the
    test's temporary folder, and with scenarios and their files beside the test. It has the other
    names of the package, too."""

    def __init__(self, beside: pathlib.Path, below: pathlib.Path):
        self._beside, self._results = beside, below
        self._count = 0
        self._live: dict[pathlib.Path, live_runs.Live] = {}
        self._junit: list[pathlib.Path] = []

    def _scenario(self, scenario: command.Scenario) -> command.Scenario:
        if isinstance(scenario, Mapping) or command.is_text(scenario):
            return scenario
        beside = self._beside / os.fsdecode(scenario)
        return beside if beside.exists() else scenario

    def _options(self, options: dict[str, Any]) -> dict[str, Any]:
        options.setdefault("folder", self._beside)
        options.setdefault("out", self._results / f"run-{self._count}")
        options.setdefault("junit", self._results / f"junit-{self._count}.xml")
        self._junit.append(pathlib.Path(options["junit"]))
        self._count += 1
        return options

    def check(self, scenario: command.Scenario, **options: Any) -> str:
        """hiloco.check()"""
        options.setdefault("folder", self._beside)
        return runs.check(self._scenario(scenario), **options)

    def run(self, scenario: command.Scenario, **options: Any) -> Run:
        """hiloco.run()"""
        return runs.run(self._scenario(scenario), **self._options(options))

    def sweep(self, scenario: command.Scenario, set: Mapping[str, Any] | None = None,
              **options: Any) -> Sweep:
        """hiloco.sweep()"""
        if "bisect" in options:
            options.setdefault("junit", None)  # the command has none for a bisection
        options = self._options(options) if options.get("junit", "") is not None else {
            "folder": self._beside, "out": self._results / f"bisection-{len(self._junit)}", **options}
        return runs.sweep(self._scenario(scenario), set, **options)

    def start(self, scenario: command.Scenario, **options: Any) -> live_runs.Live:
        """hiloco.start(). The run ends with the test, if it is not ended before."""
        run = live_runs.start(self._scenario(scenario), **self._options(options))
        self._live[self._junit.pop()] = run
        return run

    def attach(self, run: Any) -> live_runs.Live:
        """hiloco.attach()"""
        return live_runs.attach(run)

    def compare(self, a: Any, b: Any, **options: Any) -> Comparison:
        """hiloco.compare()"""
        return compare(a, b, **options)

    def __getattr__(self, name: str) -> Any:
        import hiloco

        return getattr(hiloco, name)

    # --- at the end -----------------------------------------------------------------------

    def _end(self) -> None:
        """Ends the runs that go on. Those that were interrupted have no verdict."""
        while self._live:
            junit, live = self._live.popitem()
            interrupted = live.running
            if live.stop().verdict != "error" and not interrupted:
                self._junit.append(junit)

    def _verdicts(self) -> list[str]:
        return [path.read_text("utf-8") for path in self._junit if path.is_file()]


# --- the runs of a test ---------------------------------------------------------------------


def _not_valid(runs_of_test: list[Run]) -> list[str]:
    """Why runs in real time show nothing."""
    found: list[Any] = []
    for run in runs_of_test:
        try:
            if run.summary["mode"] == "realtime" and not run.valid:
                found += run.summary["validity"]["reasons"] or ["a run is not valid"]
        except (Error, KeyError):
            pass  # it left no summary, of which its own exception told
    return list(dict.fromkeys(map(str, found)))


def _folder(config: pytest.Config, name: str) -> pathlib.Path:
    """A folder beside those of tmp_path, which stays as long as they do."""
    path: pathlib.Path = config._tmp_path_factory.mktemp(name)  # type: ignore[attr-defined]
    return path


def _pictures(runs_of_test: list[Run], config: pytest.Config) -> str:
    """Draws the figures and writes the reports, and says where they are."""
    lines = []
    for run in runs_of_test[:_DRAWN]:
        try:
            folder = _folder(config, "figures")
            figures = run.plot(to=folder)
            lines += [repr(run), *(f"  figure {figure}" for figure in figures)]
            lines.append(f"  report {run.report(to=folder)}")
        except (Error, OSError) as error:
            lines.append(f"{run.dir}: {error}")
    if len(runs_of_test) > _DRAWN:
        lines.append(f"and {len(runs_of_test) - _DRAWN} more runs")
    return "\n".join(lines)


@pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Keeps the runs of a test until its end, also those that are made without the fixture."""
    found: dict[pathlib.Path, Run] = {}
    item.stash[_RUNS] = found

    def take(run: Run) -> None:
        found[run.dir] = run

    results.observers.append(take)
    yield
    results.observers.remove(take)
    del item.stash[_RUNS]


# --- the machine ----------------------------------------------------------------------------


def _unfit(config: pytest.Config) -> str:
    """Why real time does not work on this machine; "": it may."""
    if _UNFIT not in config.stash:
        if len(os.sched_getaffinity(0)) < 2:
            config.stash[_UNFIT] = "it has one processor"
        else:
            done = command.call(["doctor", "--json", "--measure=0"])
            findings = json.loads(done.stdout)["findings"] if done.returncode == 0 else []
            config.stash[_UNFIT] = "; ".join(f"{one['name']}: {one['found']}" for one in findings
                                             if one["severity"] == "serious")
    return config.stash[_UNFIT]


def _skip_if_unfit(config: pytest.Config) -> None:
    if why := _unfit(config):
        pytest.skip(f"this machine is not fit for real time: {why}")


# --- scenarios as tests ---------------------------------------------------------------------


class VerdictError(AssertionError):
    """A scenario did not pass."""


class ScenarioFile(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        name = _NAME.search(self.path.read_text("utf-8", "replace"))
        yield ScenarioItem.from_parent(self, name=name[1] if name else self.path.stem)


class ScenarioItem(pytest.Item):
    """A scenario, which passes if its verdict is `passed`."""

    def runtest(self) -> None:
        tracker = Tracker(self.path.parent, _folder(self.config, re.sub(r"\W", "_", self.path.stem)))
        self.stash[_TRACKED] = tracker
        if re.search("^mode: realtime$", tracker.check(self.path), re.MULTILINE):
            _skip_if_unfit(self.config)
        run = tracker.run(self.path)
        if run.verdict != "passed":
            raise VerdictError("\n".join([f"the verdict is {run.verdict}", *run.why]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, (Error, VerdictError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[pathlib.Path, int, str]:
        return self.path, 0, f"scenario {self.name}"


def pytest_collect_file(file_path: pathlib.Path, parent: pytest.Collector) -> ScenarioFile | None:
    if not file_path.name.startswith("test_") or file_path.suffix not in (".yaml", ".yml"):
        return None
    text = file_path.read_text("utf-8", "replace")
    if not (_HAS_LIMITS.search(text) and _IS_SCENARIO.search(text)):
        return None
    file: ScenarioFile = ScenarioFile.from_parent(parent, path=file_path)
    return file


# --- tests in Python ------------------------------------------------------------------------


@pytest.fixture
def hiloco(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Iterator[Tracker]:
    """hiloco's functions, for this test: hiloco.run("servo.yaml")."""
    tracker = Tracker(request.path.parent, tmp_path)
    request.node.stash[_TRACKED] = tracker
    yield tracker
    tracker._end()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("realtime"):
        _skip_if_unfit(item.config)


@pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    outcome = yield
    if call.when != "call":
        return
    tracker = item.stash.get(_TRACKED, None)
    if tracker is not None:
        tracker._end()
    report = outcome.get_result()  # type: ignore[attr-defined]
    found = list(item.stash[_RUNS].values())
    is_mistake = call.excinfo is not None and call.excinfo.errisinstance(Error)
    if not is_mistake and report.outcome != "skipped" and (why := _not_valid(found)):
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, "Skipped: inconclusive: " + "; ".join(why))
    if report.failed and found:
        report.sections.append(("hiloco", _pictures(found, item.config)))
    report.hiloco_junit = tracker._verdicts() if tracker is not None else []


# --- the verdicts as JUnit XML ---------------------------------------------------------------


class _Verdicts:
    """Collects the verdicts of all runs in one file."""

    def __init__(self, path: str):
        self.path = os.path.abspath(path)
        self.root = xml.etree.ElementTree.Element("testsuites")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for text in getattr(report, "hiloco_junit", ()):
            root = xml.etree.ElementTree.fromstring(text)
            for suite in [root] if root.tag == "testsuite" else list(root):
                suite.set("name", f"{report.nodeid}: {suite.get('name')}")
                self.root.append(suite)

    def pytest_sessionfinish(self) -> None:
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        for count in ("tests", "failures", "errors", "skipped"):
            total = sum(int(suite.get(count, 0)) for suite in self.root)
            self.root.set(count, str(total))
        xml.etree.ElementTree.ElementTree(self.root).write(self.path, "utf-8", xml_declaration=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("hiloco").addoption(
        "--hiloco-junit", metavar="FILE",
        help="write the verdicts of all runs, and on each of their limits, as JUnit XML")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "realtime: a test in real time; it is skipped where the "
                                       "machine is not fit, and where a run is not valid")
    path = config.getoption("--hiloco-junit")
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Verdicts(path), "hiloco-verdicts")
