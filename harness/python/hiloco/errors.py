"""The exceptions of this package. All are hiloco.Error."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .results import Run

_PLACE = re.compile(r"(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): (?P<text>.*)")
_OPTION = re.compile(r"--(?:set|parameters) (?P<key>[^=\s]+)=.*?: (?P<text>.*)")
_ALLOWED = re.compile(r"(?:^|; )(?:allowed|required): (?P<allowed>.*)")
_KEY = re.compile(r"(?:unknown key '(?P<unknown>[^']*)'|(?P<key>[\w.\[\]*-]+) (?:is|has|must) )")


@dataclasses.dataclass(frozen=True)
class Mistake:
    """One mistake in a scenario: what was found, where, and what is allowed."""

    text: str
    """The whole sentence: what was found, and what is allowed."""
    file: str | None = None
    """The file; None in a dict, in a text, and for a key of `set`."""
    line: int | None = None
    """From 1. In a dict: the line of the scenario as JSON that str(mistake) counts in."""
    column: int | None = None
    key: str | None = None
    """The key, with its path, where the sentence names one: nodes.drive.period_us."""
    allowed: str | None = None
    """What is allowed there, in words."""

    def __str__(self) -> str:
        if self.line is None:
            return self.text
        return f"{self.file or 'scenario'}:{self.line}:{self.column}: {self.text}"


def mistake_of(line: str) -> Mistake | None:
    """The mistake that a line of hiloco's messages tells; None: it tells none."""
    place, option = _PLACE.fullmatch(line), _OPTION.fullmatch(line)
    if option:
        text, key = line, option["key"]
    elif place:
        text, key = place["text"], None
        if found := _KEY.match(text):
            key = found["unknown"] or found["key"]
    else:
        return None
    allowed = _ALLOWED.search(text)
    told = allowed["allowed"] if allowed else None
    if option or place is None:
        return Mistake(text, key=key, allowed=told)
    file = None if place["file"] == "-" else place["file"]
    return Mistake(text, file, int(place["line"]), int(place["column"]), key, told)


class Error(Exception):
    """Anything that went wrong in hiloco. The text is what the command said."""


class NotInstalledError(Error):
    """The program hiloco, or another package that a call needs, is not there."""


class RefusedError(Error):
    """A request was wrong, and nothing was started or changed."""


class ScenarioError(RefusedError):
    """A scenario has mistakes. `file`, `line`, `column`, `key` and `allowed` are those of the first."""

    def __init__(self, mistakes: list[Mistake]):
        super().__init__("\n".join(map(str, mistakes)))
        self.mistakes = mistakes

    @property
    def file(self) -> str | None:
        return self.mistakes[0].file

    @property
    def line(self) -> int | None:
        return self.mistakes[0].line

    @property
    def column(self) -> int | None:
        return self.mistakes[0].column

    @property
    def key(self) -> str | None:
        return self.mistakes[0].key

    @property
    def allowed(self) -> str | None:
        return self.mistakes[0].allowed


class RunError(Error):
    """A run failed or was interrupted. `run` has the results as far as there are any, or is None;
    `status` is the exit status of the command: 1, or 129 to 131 after a signal."""

    def __init__(self, text: str, status: int, run: Run | None = None):
        super().__init__(text)
        self.status = status
        self.run = run


class NoRunError(Error):
    """There is no such run (any more), or it does not allow what was asked."""


class SignalError(Error, KeyError):
    """The record or the run has no such signal."""

    def __str__(self) -> str:  # a KeyError would quote it
        return str(self.args[0])


def refusal(said: str) -> RefusedError:
    """The exception for what a command said that ended with status 2."""
    lines = [line for line in said.splitlines() if line and not line.startswith("warning: ")]
    mistakes = [mistake for line in lines if (mistake := mistake_of(line))]
    if mistakes:
        return ScenarioError(mistakes)
    return RefusedError("\n".join(lines) or "the request was refused")
