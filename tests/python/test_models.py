"""Models that are classes in Python: python:FILE:CLASS."""
import subprocess

import pytest

import hiloco
from hiloco import command

LAW = """
import hiloco, sys

class Law(hiloco.Model):
    \"\"\"Half of what it gets\"\"\"
    kind = "sampled"
    share = hiloco.Parameter(0.5, minimum=0, maximum=1)
    x = hiloco.Input()
    y = hiloco.Output("A per s", "half of it")

    def create(self):
        if self.share == 0:
            raise ValueError("a share of 0 makes no sense")

    def step(self):
        print("a step at", self.time_s)
        self.y = self.share * self.x + (len(sys.argv) > 1 and float(sys.argv[1]))

class Base(hiloco.Model):
    x = hiloco.Input(default=1)
    y = hiloco.Output()

class Silent(Base):
    def step(self):
        pass

class Infinite(Base):
    def step(self):
        self.y = 1e308 * 10
    def output(self):
        self.y = 0 if self.time_s == 0 else self.y

class NoStep(Base):
    def output(self):
        self.y = 0
"""


@pytest.fixture
def law(rc, tmp_path, monkeypatch):
    folder = tmp_path / "a: folder: with 'marks'"
    folder.mkdir()
    (folder / "my laws.py").write_text(LAW)
    monkeypatch.chdir(folder)
    rc["components"] = {"law": {"model": "python:my laws.py:Law", "node": "stage", "inputs": {"x": 3}}}
    rc["record"] = [{"signals": "law.y", "node": "stage"}]
    return rc


def test_a_law(law):
    assert hiloco.run(law)["law.y"][-1] == 1.5
    law["components"]["law"]["parameters"] = {"share": 1}
    run = hiloco.run(law, set={"components.law.settings.args": [10]})
    assert run["law.y"].unit == "A per s" and run["law.y"][-1] == 13


def test_two_runs_are_the_same(law):
    assert hiloco.compare(hiloco.run(law), hiloco.run(law))


def test_in_real_time(law):
    run = hiloco.run(law, mode="realtime", set={"nodes.stage.period_us": 1000, "duration_s": 0.3,
                                                "validity.required": False})
    assert run["law.y"][-1] == 1.5


@pytest.mark.parametrize("model, why", [
    ("python:my laws.py", "it names no class; allowed: python:FILE:CLASS"),
    ("python:my laws.py:Lau", "its class Lau is not there; allowed: Law, Base, Silent"),
    ("python:my laws.py:sys", "no subclass of hiloco.Model"),
    ("python:nope.py:Law", "there is no such file"),
    ("my laws.py", "allowed: python:my laws.py:CLASS, or program:./my laws.py"),
    ("python::Law", "it names no class"),
    ("python:broken.py:Law", "broken.py:1: SyntaxError"),
    ("python:text:Law", "text is no Python file"),
])
def test_what_is_no_model(law, tmp_path, model, why):
    (tmp_path / "a: folder: with 'marks'/broken.py").write_text("class :\n")
    (tmp_path / "a: folder: with 'marks'/text").write_text("class :\n")
    law["components"]["law"]["model"] = model
    with pytest.raises(hiloco.ScenarioError) as caught:
        hiloco.check(law)
    assert why in str(caught.value)


@pytest.mark.parametrize("name, why", [
    ("Silent", "Silent.y is not set"),
    ("NoStep", "NotImplementedError: NoStep has no step()"),
])
def test_what_fails_while_it_runs(law, name, why):
    law["components"]["law"]["model"] = f"python:my laws.py:{name}"
    with pytest.raises(hiloco.RunError) as caught:
        hiloco.run(law)
    assert why in str(caught.value)


def test_a_value_that_makes_no_sense(law):
    law["components"]["law"]["parameters"] = {"share": 0}
    with pytest.raises(hiloco.ScenarioError, match="my laws.py:13: ValueError: a share of 0 makes no sense"):
        hiloco.run(law)


def test_its_tables(law):
    said = subprocess.run([command.program(), "models", "python:my laws.py:Law"], text=True, capture_output=True)
    assert "Law (sampled): Half of what it gets" in said.stdout
