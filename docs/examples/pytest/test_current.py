"""Tests of current.yaml, and of a plant in Python."""
import math

import pytest


def test_it_settles(hiloco):
    run = hiloco.run("current.yaml")
    assert run.valid
    assert run.summary.measures.current_a.settling_ms < 3
    current = run["motor.current_a"]
    assert abs(current[current.time_s > 0.015] - 5).max() < 0.01


@pytest.mark.parametrize("period_us", [25, 100])
def test_it_settles_with_other_periods(hiloco, period_us):
    run = hiloco.run("current.yaml", set={"nodes.law.period_us": period_us})
    assert run.summary.measures.current_a.overshoot_pct < 20


def test_a_sweep_over_the_gain(hiloco):
    sweep = hiloco.sweep("current.yaml", {"components.control.parameters.kp": [0.1, 0.2, 0.4]})
    times = [point.run.summary.measures.current_a.settling_ms for point in sweep]
    assert times[0] > times[1]


def test_a_gain_is_changed_while_it_runs(hiloco):
    with hiloco.start("current.yaml", allow_set=True, set={"duration_s": 3000, "record": []}) as run:
        run.pause()
        before = run.state().elapsed_s
        run.set("current", 7)
        run.step(1000)
        assert run.state().elapsed_s > before
        assert run.read("motor.current_a") == pytest.approx(7, abs=0.1)


def test_a_plant_in_python(hiloco):
    run = hiloco.run({
        "name": "rc",
        "duration_s": 0.01,
        "mode": "virtual",
        "nodes": {"stage": {"period_us": 100}},
        "components": {"rc": {"model": "python:rc.py:RC", "node": "stage", "inputs": {"input_v": 48}}},
        "record": [{"signals": "rc.voltage_v", "node": "stage"}],
    })
    voltage = run["rc.voltage_v"]
    assert voltage[-1] == pytest.approx(48 * (1 - math.exp(-voltage.time_s[-1] / 1e-3)))


@pytest.mark.realtime
def test_it_settles_in_real_time(hiloco):
    run = hiloco.run("current.yaml", mode="realtime")
    assert run.summary.measures.current_a.settling_ms < 5
