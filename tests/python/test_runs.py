"""hiloco.run(), check(), sweep() and compare(), and the objects that they return."""
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy
import pytest

import hiloco


def test_a_file_gives_a_run(example):
    run = hiloco.run("current.yaml")
    assert (run.verdict, run.valid, run.why) == ("passed", True, [])
    assert run.summary.measures.current_a.settled is True
    assert run.summary["nodes"]["law"]["steps"] == 400
    assert "motor.current_a" in run and "current_a.reference" in run.signals
    assert "passed" in repr(run) and "current_a" in run._repr_html_()


ALONE = """
import json, sys
import hiloco
run = hiloco.run(json.loads(sys.argv[1]))
folder = run.dir
assert folder.is_dir()
del run
assert not folder.parent.exists()
"""


def test_the_temporary_results_go_with_the_run(rc):
    """In a process of its own: pytest's plugin keeps the runs of a test until its end."""
    subprocess.run([sys.executable, "-c", ALONE, json.dumps(rc)], check=True)


def test_results_stay_where_they_are_asked_for(rc, tmp_path):
    hiloco.run(rc, out=tmp_path / "out")
    assert hiloco.Run(tmp_path / "out").verdict == "passed"


def test_a_signal_has_its_times(example):
    current = hiloco.run("current.yaml")["motor.current_a"]
    assert isinstance(current, numpy.ndarray) and current.unit == "A" and current.node == "plant"
    assert len(current) == len(current.time_s) == 2000
    late = current[current.time_s > 0.015]
    assert late.time_s[0] > 0.015 and len(late) == len(late.time_s)
    assert (current[10:20] * 2).time_s.tolist() == current.time_s[10:20].tolist()
    assert type(current.max()) is numpy.float64 and type(current[3]) is numpy.float64
    again = pickle.loads(pickle.dumps(late))
    assert again.time_s.tolist() == late.time_s.tolist() and again.unit == "A"


def test_an_array_has_a_column_for_each(rc):
    rc["nodes"]["stage"]["count"] = 3
    rc["nodes"]["hub"] = {"period_us": 100}
    rc["components"]["lag"]["inputs"] = {}
    rc["components"]["mean"] = {"model": "gain", "node": "hub", "array": "stage"}
    rc["components"]["lag"]["inputs"] = {"input": 5}
    rc["connections"] = [{"from": "lag[*].output", "to": "mean[*].input"}]
    del rc["components"]["mean"]["array"]
    rc["components"]["mean"]["count"] = 3
    rc["record"] = [{"signals": "lag[*].output", "node": "hub"}]
    run = hiloco.run(rc)
    assert run["lag[*].output"].shape[1] == 3
    assert (run["lag[2].output"] == run["lag[*].output"][:, 2]).all()


def test_a_signal_that_is_not_there(example):
    run = hiloco.run("current.yaml")
    with pytest.raises(KeyError, match="did you mean 'motor.current_a'") as caught:
        run["motor.curent_a"]
    assert isinstance(caught.value, hiloco.Error)
    with pytest.raises(AttributeError, match="did you mean 'measures'"):
        run.summary.measure


def test_events(example):
    kinds = [event.kind for event in hiloco.run("current.yaml").events if event.node == "law"]
    assert kinds == ["init", "ready", "run", "stopped"]


def test_a_mistake_has_its_place(tmp_path):
    file = tmp_path / "with: colons 1:2: and blanks.yaml"
    file.write_text("name: x\nfoo: 1\nnodes: {a: {period_us: -3}}\ncomponents: {}\n")
    with pytest.raises(hiloco.ScenarioError) as caught:
        hiloco.run(file)
    first, second = caught.value.mistakes[:2]
    assert (first.file, first.line, first.column, first.key) == (str(file), 2, 1, "foo")
    assert "nodes" in first.allowed
    assert (second.line, second.column, second.key) == (3, 24, "nodes.a.period_us")
    assert second.allowed.endswith("0.001 to 1e9 us")
    assert caught.value.line == 2 and str(file) in str(caught.value)


def test_a_mistake_in_a_dict_and_in_a_text(rc):
    rc["nodes"]["stage"]["period_us"] = -3
    with pytest.raises(hiloco.ScenarioError) as caught:
        hiloco.check(rc)
    assert caught.value.file is None and caught.value.key == "nodes.stage.period_us"
    with pytest.raises(hiloco.ScenarioError) as caught:
        hiloco.check("name: x\nduration_s: long\n")
    assert (caught.value.line, caught.value.column) == (1, 1) or caught.value.line == 2


def test_a_mistake_in_set(example):
    with pytest.raises(hiloco.ScenarioError) as caught:
        hiloco.run("current.yaml", set={"nodes.law.period_us": "soon", "nope": 1})
    assert [mistake.key for mistake in caught.value.mistakes] == ["nodes.law.period_us", "nope"]


@pytest.mark.parametrize("scenario", ["nope.yaml", "", ".", pathlib.Path("nope.yaml"), {}, {"name": None},
                                      "name: [", {"nodes": float("nan")}, {"ümläut": "😀 'x' \"y\""}, "-"])
def test_what_is_no_scenario_is_refused(example, scenario):
    with pytest.raises(hiloco.RefusedError):
        hiloco.run(scenario)


@pytest.mark.parametrize("scenario", [None, 3, {"name": {1, 2}}])
def test_what_is_no_value_is_a_type_error(scenario):
    with pytest.raises(TypeError):
        hiloco.check(scenario)


@pytest.mark.parametrize("text", ["a b", "it's", 'a "b"', "a: b", "#x", "[1, 2]", "{a", "a,b", "-", "- x", "x:", "ü 😀",
                                  " a ", "", "!x", "&x", "*x", "a #b", "a\\b", "line\nend"])
def test_a_text_stays_what_it_is(rc, text):
    rc["components"]["lag"]["model"] = text
    with pytest.raises(hiloco.ScenarioError) as in_dict:
        hiloco.check(rc)
    rc["components"]["lag"]["model"] = "gain"
    with pytest.raises(hiloco.ScenarioError) as in_set:
        hiloco.check(rc, set={"components.lag.model": text})

    what = str(in_dict.value).partition(": ")[2].partition("; allowed")[0]
    assert what in str(in_set.value) and "model" in what


def test_check_spells_every_key_out(example):
    text = hiloco.check("current.yaml", set={"nodes.law.period_us": numpy.int64(20)})
    assert "period_us: 20" in text and hiloco.check(text) == text


def test_a_folder_that_holds_something_else(example):
    with pytest.raises(hiloco.RefusedError, match="no result of a run"):
        hiloco.run("current.yaml", out=example)


def test_a_failed_limit_is_a_verdict(example):
    run = hiloco.run("test_limits.yaml", set={"limits.voltage.max": 1})
    assert run.verdict == "failed" and run.why[0].startswith("voltage.max: motor.voltage_v")


def test_a_run_that_fails(rc, example):
    (example / "dies.py").write_text("import hiloco, os\nclass Dies(hiloco.Model):\n    y = hiloco.Output()\n"
                                     "    y = hiloco.State(output=True)\n"
                                     "    def step(self):\n        os._exit(3)\n")
    rc["components"] = {"lag": {"model": "python:dies.py:Dies", "node": "stage"}}
    rc["record"] = []
    with pytest.raises(hiloco.RunError, match="it ended with status 3") as caught:
        hiloco.run(rc)
    assert caught.value.status == 1 and caught.value.run.verdict == "error"


def test_compare(example):
    a = hiloco.run("current.yaml")
    b = hiloco.run("current.yaml", set={"components.control.parameters.kp": 0.24})
    assert hiloco.compare(a, a.dir)
    assert not hiloco.compare(a, b)
    assert "motor.current_a" in [one.signal for one in hiloco.compare(a, b).differing()]
    assert hiloco.compare(a, b, absolute=100)
    with pytest.raises(hiloco.RefusedError):
        hiloco.compare(a, example)


def test_a_sweep(example):
    sweep = hiloco.sweep("current.yaml", {"nodes.law.period_us": [25, 50], "duration_s": 0.01})
    assert [dict(point.values) for point in sweep] == [
        {"nodes.law.period_us": "25", "duration_s": "0.01"}, {"nodes.law.period_us": "50", "duration_s": "0.01"}]
    assert [point.verdict for point in sweep] == ["passed", "passed"]
    point = sweep[1]
    del sweep
    assert len(point.run["motor.current_a"]) == 1000  # the results stay while their run does


def test_a_sweep_of_a_dict_that_draws_values(rc):
    rc["limits"] = {"end": {"signal": "lag.output", "max": 5}}
    rc["limits"]["end"]["min"] = -1
    sweep = hiloco.sweep(rc, {"components.lag.parameters.time_constant_s": "1e-3~10%"}, runs=3, seed=2)
    assert len(sweep) == 3 and sweep.index.drawn.seed == 2


@pytest.mark.parametrize("values", [{}, None, {"duration_s": []}])
def test_an_empty_sweep_is_refused(rc, values):
    with pytest.raises(hiloco.RefusedError, match="allowed: "):
        hiloco.sweep(rc, values)


def test_two_runs_at_once(rc):
    runs = []
    threads = [threading.Thread(target=lambda: runs.append(hiloco.run(rc))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [run.verdict for run in runs] == ["passed"] * 4
    assert all(hiloco.compare(runs[0], run) for run in runs[1:])


def test_figures_and_a_report(example):
    run = hiloco.run("current.yaml")
    figures = run.plot(to=example / "figures")
    assert figures and all(figure.is_file() for figure in figures)
    assert figures._repr_html_().startswith("<img")
    assert run.report(to=example).read_bytes().startswith(b"<!")


def test_frames_of_pandas(example):
    pytest.importorskip("pandas")
    run = hiloco.run("current.yaml")
    frame = run.to_pandas("motor.current_a", "motor.voltage_v")
    assert list(frame.columns) == ["motor.current_a", "motor.voltage_v"] and frame.index.name == "time_s"
    assert (frame["motor.current_a"].to_numpy() == numpy.asarray(run["motor.current_a"])).all()
    assert (frame.index.to_numpy() == run["motor.current_a"].time_s).all()
    assert len(run.to_pandas().columns) == len(run.signals)
    sweep = hiloco.sweep("current.yaml", {"components.control.parameters.kp": [0.1, 0.2]})
    assert list(sweep.to_pandas()["components.control.parameters.kp"]) == [0.1, 0.2]


def test_figures_of_matplotlib(example, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    pytest.importorskip("matplotlib")
    run = hiloco.run("current.yaml")
    panels = run.plot("motor.current_a", "current_a.reference", "motor.voltage_v").axes
    assert [panel.get_ylabel() for panel in panels] == ["A", "V"]  # a panel for each unit
    times, values = panels[0].lines[0].get_data()
    assert (values == numpy.asarray(run["motor.current_a"])).all() and times[-1] == run["motor.current_a"].time_s[-1]
    assert len(panels[0].lines) == 2 and len(panels[1].lines) == 1


INTERRUPTED = """
import hiloco, os, sys
try:
    print("begun", flush=True)
    hiloco.run("current.yaml", set={"duration_s": 3000, "record": []}, out="out")
except KeyboardInterrupt:
    print("interrupted", os.path.exists("out/summary.json"), flush=True)
"""


def processes_in(folder):
    """Those that have this folder on their command line."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.fsencode(folder) in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
        except OSError:
            pass
    return found


def wait_until(condition):
    while not condition():
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_ends_with_python(example, number):
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True)
    out = str(example / "out")
    assert process.stdout.readline() == "begun\n"
    wait_until(lambda: processes_in(out) and (example / "out/trace.h5.journal").exists())
    process.send_signal(number)
    said, _ = process.communicate()
    wait_until(lambda: not processes_in(out))
    assert said == ("interrupted True\n" if number == signal.SIGINT else "")
