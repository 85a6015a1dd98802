"""Starts the program hiloco, which computes everything that this package gives."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import IO, Any, Union

from .errors import NotInstalledError, RefusedError

Scenario = Union[str, "os.PathLike[str]", Mapping[str, Any]]
"""A scenario: the path of a file, its text (a str with a line end), or a dict of its keys."""

_END_S = 30
_PR_SET_PDEATHSIG = 1
_prctl = ctypes.CDLL(None).prctl


def program() -> str:
    """The path of the program: that of HILOCO_PROGRAM, else the one that this package was installed
    with, else the one on the PATH."""
    if chosen := os.environ.get("HILOCO_PROGRAM"):
        return chosen
    folder = pathlib.Path(__file__).resolve().parent.parent
    for path in (folder.parent / "hiloco", folder.parent.parent.parent / "bin" / "hiloco"):
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    if found := shutil.which("hiloco"):
        return found
    raise NotInstalledError("the program hiloco is not on the PATH; install it, or set HILOCO_PROGRAM")


# --- what goes to the command line ------------------------------------------------------------


def _plain(value: Any) -> Any:
    """For values that JSON does not know: those of numpy, and paths."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{value!r} is no value of a scenario; allowed: numbers, str, bool, paths, and "
                    "lists and dicts of them")


def to_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, default=_plain, ensure_ascii=False, indent=indent)


_WORD = re.compile(r"[\w./+~$^=()\\-][\w./+~$^=()\\%:@*<>; -]*")


def value_text(value: Any) -> str:
    """A value as --set takes it. Texts with characters that mean something in YAML are quoted."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if (isinstance(value, str) and _WORD.fullmatch(value) and ": " not in value
            and value[-1] not in ": " and value != "-" and not value.startswith("- ")):
        return value
    return to_json(value)


def keys_of(sets: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if sets is None or isinstance(sets, Mapping):
        return sets or {}
    raise TypeError(f"the keys to set are {sets!r}; allowed: a dict, such as {{'nodes.drive.period_us': 20}}")


def set_options(sets: Mapping[str, Any] | None) -> list[str]:
    return [f"--set={key}={value_text(value)}" for key, value in keys_of(sets).items()]


def common_options(mode: str | None, parameters: Any) -> list[str]:
    options = [] if mode is None else [f"--mode={mode}"]
    if parameters is None:
        return options
    if isinstance(parameters, (str, os.PathLike)):
        parameters = [parameters]
    return options + [f"--parameters={os.path.abspath(path)}" for path in parameters]


def is_text(scenario: Scenario) -> bool:
    return isinstance(scenario, str) and ("\n" in scenario or ": " in scenario
                                          and not os.path.exists(scenario))


def scenario_argument(scenario: Scenario) -> tuple[list[str], str | None]:
    """The arguments that name the scenario, and what is to be on standard input."""
    if isinstance(scenario, Mapping):
        return ["--", "-"], to_json(scenario, indent=1) + "\n"
    if is_text(scenario):
        return ["--", "-"], str(scenario)
    path = os.fsdecode(scenario)
    return ["--", "./-" if path == "-" else path], None


# --- processes ------------------------------------------------------------------------------


def _end_with_parent(parent: int) -> None:
    """In the child: it is told to end when the thread that started it ends, whatever ends that."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def start(arguments: list[str], stdin: Any, stdout: Any, stderr: Any,
          folder: str | os.PathLike[str] | None = None) -> subprocess.Popen[str]:
    """Starts the program in a process group of its own: a Ctrl-C is for Python, which passes it
    on."""
    environment = dict(os.environ)
    if sys.executable:
        environment.setdefault("HILOCO_PYTHON", sys.executable)
    prepare = None
    if threading.current_thread() is threading.main_thread():
        parent = os.getpid()
        prepare = lambda: _end_with_parent(parent)  # noqa: E731
    try:
        return subprocess.Popen([program(), *arguments], stdin=stdin, stdout=stdout, stderr=stderr,
                                env=environment, encoding="utf-8", errors="replace",
                                cwd=folder, process_group=0, preexec_fn=prepare)
    except FileNotFoundError as error:
        if folder is not None and not os.path.isdir(folder):
            raise RefusedError(f"{os.fspath(folder)}: there is no such folder") from None
        raise NotInstalledError(f"{error.filename}: there is no such program") from None
    except PermissionError as error:
        raise NotInstalledError(f"{error.filename}: it cannot be started: {error.strerror}") from None


def end(process: subprocess.Popen[str]) -> None:
    """Ends it in order, like Ctrl-C; by force if that takes too long or is interrupted itself."""
    try:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(_END_S)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


@contextlib.contextmanager
def _input(text: str | None) -> Iterator[int | IO[str]]:
    """A file with the text, which a sweep's runs can each open again."""
    if text is None:
        yield subprocess.DEVNULL
        return
    with open(os.memfd_create("scenario"), "w+", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
        file.flush()
        file.seek(0)
        yield file


def start_with_text(arguments: list[str], text: str | None, stdout: Any, stderr: Any,
                    folder: str | os.PathLike[str] | None = None) -> subprocess.Popen[str]:
    with _input(text) as stdin:
        return start(arguments, stdin, stdout, stderr, folder)


def call(arguments: list[str], text: str | None = None,
         folder: str | os.PathLike[str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the program to its end. If this is interrupted, so is the program."""
    process = start_with_text(arguments, text, subprocess.PIPE, subprocess.PIPE, folder)
    try:
        out, err = process.communicate()
    except BaseException:
        end(process)
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)
