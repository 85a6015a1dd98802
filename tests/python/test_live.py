"""Runs that go on: hiloco.start() and attach()."""
import os
import signal
import subprocess
import sys
import threading

import pytest

import hiloco
from test_runs import processes_in, wait_until

LONG = {"duration_s": 3000, "record": []}
ONE_CORE = {"placement": [{"nodes": ["law", "plant"]}]}  # in real time others leave none for the test


@pytest.fixture
def live(example):
    with hiloco.start("current.yaml", set=LONG, allow_set=True) as run:
        yield run


def test_a_parameter_is_set(live):
    [change] = live.set("control.kp", 0.2)
    assert (change.name, change.value, change.node) == ("control.kp", 0.2, "law")
    assert 0.2 in [one.value for one in live.settable().parameters if one.name == "control.kp"]
    both = live.set({"control.kp": 0.1, "current": 3}, ramp_s=None)
    assert len({change.time_s for change in both}) == 1
    assert [one.value for one in live.set("motor.resistance_ohm", "350mOhm")] == [0.35]
    assert live.set({}) == []


def test_a_source_is_set_and_its_effect_is_read(live):
    live.set("current", 7, ramp_s=1e-3)
    wait_until(lambda: abs(live.read("motor.current_a") - 7) < 1e-3)
    assert live.read("control.output") == pytest.approx(2.1, abs=0.01)


def test_what_is_refused(live):
    for name, value, why in (("foo", 1, "allowed: "), ("control.kp", 1e30, "out of range"),
                             ("it's; a name", 1, "allowed: "), ("control.kp", float("nan"), "number")):
        with pytest.raises(hiloco.RefusedError, match=why):
            live.set(name, value)
    with pytest.raises(hiloco.RefusedError, match="there is no signal"):
        live.read("motor.nope")
    with pytest.raises(TypeError):
        live.set("control.kp")


def test_pause_and_step(live):
    before = live.pause().time_s
    assert live.state().state == "paused"
    after = live.step(10)
    assert after.paused and after.time_s == pytest.approx(before + 10 * 10e-6)
    assert live.set("control.kp", 0.2) == []  # it is made when the run continues
    assert not live.resume().paused


def test_a_capture(live):
    capture = live.capture(["motor.current_a", "control.output"], before_s=1e-3, after_s=1e-3)
    current = capture.signal("motor.current_a")
    assert current.unit == "A" and len(current) == len(current.time_s) and capture.trigger is None
    with pytest.raises(hiloco.SignalError):
        capture.signal("motor.voltage_v")
    with pytest.raises(hiloco.NoRunError, match="no trigger"):
        live.capture("motor.current_a", trigger="motor.current_a>1e6", wait_s=0.05)
    with pytest.raises(hiloco.RefusedError):
        live.capture("motor.current_a", trigger="motor.current_a=1")


def test_attach_leaves_it(live):
    with hiloco.attach(live.dir) as other:
        other.set("control.kp", 0.2)
    assert live.running
    run = other.stop()
    assert not live.running and run.verdict == "error"
    with pytest.raises(hiloco.NoRunError, match="has ended"):
        other.set("control.kp", 0.2)
    with pytest.raises(hiloco.NoRunError):
        hiloco.attach(live.dir)


def test_threads_share_it(live):
    made = []
    threads = [threading.Thread(target=lambda: made.append(live.set("control.kp", 0.2))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 4


def test_a_forked_child_leaves_it(live):
    if not (pid := os.fork()):
        with live:
            pass
        os._exit(0)
    os.waitpid(pid, 0)
    assert live.running


def test_two_at_once(live):
    with hiloco.start("current.yaml", set=LONG, allow_set=True) as other:
        assert other.dir != live.dir
        other.set("control.kp", 0.2)
    assert live.running and not other.running


def test_an_exception_ends_it(example):
    with pytest.raises(ZeroDivisionError):
        with hiloco.start("current.yaml", set=LONG, out="out"):
            1 / 0
    assert not processes_in(str(example / "out"))
    assert hiloco.Run("out").verdict == "error"


def test_one_that_nobody_holds_ends(example):
    run = hiloco.start("current.yaml", set=LONG, out="out")
    assert run.running
    del run
    assert not processes_in(str(example / "out"))


def test_wait(example):
    with hiloco.start("current.yaml") as run:
        assert run.wait().verdict == "passed"
    with hiloco.start("current.yaml", set=LONG) as run:
        with pytest.raises(TimeoutError):
            run.wait(0)
        with pytest.raises(hiloco.NoRunError, match="does not allow changes"):
            run.set("control.kp", 1)
        run.stop()
    with pytest.raises(hiloco.RunError):
        run.run()


def test_mistakes_are_told_before_it_starts(example):
    with pytest.raises(hiloco.ScenarioError):
        hiloco.start("current.yaml", set={"duration_s": -1})
    with pytest.raises(hiloco.NoRunError):
        hiloco.attach("nope")


def test_in_real_time(example):
    with hiloco.start("current.yaml", mode="realtime", set={**LONG, **ONE_CORE}, allow_set=True) as run:
        run.set("current", 4)
        assert run.state().mode == "realtime"
        run.read("motor.current_a")
        with pytest.raises(hiloco.RefusedError):
            run.pause()
    assert not run.running


IN_A_BLOCK = """
import hiloco
with hiloco.start("current.yaml", set=SET, out="out", mode="MODE") as run:
    print("begun", flush=True)
    run.wait()
"""


@pytest.mark.parametrize("mode", ["virtual", "realtime"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_it_ends_with_python(example, number, mode):
    block = IN_A_BLOCK.replace("MODE", mode).replace("SET", repr({**LONG, **ONE_CORE}))
    process = subprocess.Popen([sys.executable, "-c", block], text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
    assert process.stdout.readline() == "begun\n"
    process.send_signal(number)
    process.communicate()
    wait_until(lambda: not processes_in(str(example / "out")))
