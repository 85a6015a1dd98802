"""Runs hiloco's scenarios, watches and changes them, and reads what they recorded.

    run = hiloco.run("servo.yaml", set={"nodes.drive.period_us": 20}, mode="virtual")
    print(run.verdict, run["motor.speed_rad_per_s"].max())

docs/python.md explains it. All is computed by the program hiloco.
"""

from __future__ import annotations

from .errors import (Error, Mistake, NoRunError, NotInstalledError, RefusedError, RunError,
                     ScenarioError, SignalError)
from .live import Capture, Live, attach, start
from .model import Input, Model, Output, Parameter, State
from .results import Comparison, Figures, Point, Run, Sweep, compare
from .runs import check, run, sweep

__all__ = ["Capture", "Comparison", "Error", "Figures", "Input", "Live", "Mistake", "Model",
           "NoRunError", "NotInstalledError", "Output", "Parameter", "Point", "RefusedError", "Run",
           "RunError", "ScenarioError", "SignalError", "State", "Sweep", "attach", "check",
           "compare", "run", "start", "sweep"]
