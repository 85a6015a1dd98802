import pathlib
import shutil

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent

pytest_plugins = "pytester"


@pytest.fixture
def example(tmp_path, monkeypatch):
    """A copy of docs/examples/pytest, which is the current folder."""
    folder = tmp_path / "a folder, with 'quotes' and ümläuts"
    shutil.copytree(ROOT / "docs/examples/pytest", folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def rc():
    """A scenario as a dict, with a plant that is built in."""
    return {
        "name": "lag",
        "duration_s": 0.01,
        "mode": "virtual",
        "nodes": {"stage": {"period_us": 100}},
        "components": {"lag": {"model": "first_order_lag", "node": "stage", "inputs": {"input": 5}}},
        "record": [{"signals": "lag.output", "node": "stage"}],
    }
