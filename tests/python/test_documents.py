"""The examples of docs/python.md, and the project of docs/examples/pytest."""
import doctest
import re
import subprocess
import sys

from conftest import ROOT

DOCUMENT = ROOT / "docs/python.md"


def test_what_the_document_shows(example):
    found = doctest.testfile(str(DOCUMENT), module_relative=False, encoding="utf-8")
    assert found.attempted > 20 and found.failed == 0


def test_the_model_is_that_of_the_example():
    [shown] = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert shown in (ROOT / "docs/examples/pytest/rc.py").read_text()


def test_the_example_project(example):
    pytest = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA"]
    done = subprocess.run([*pytest, "--hiloco-junit=verdicts.xml"], text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("test_current.py::test_it_settles", "test_limits.yaml::current-limits"):
        assert f"PASSED {name}" in done.stdout
    assert "step.settling_ms" in (example / "verdicts.xml").read_text()
