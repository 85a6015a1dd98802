"""Plants and laws as Python classes, for scenarios that say `model: python:FILE:CLASS`."""

from __future__ import annotations

import importlib.util
import inspect
import os
import socket
import sys
import traceback
from typing import ClassVar, TextIO


class Quantity:
    """A class attribute of a Model. In an instance it is a float with that name."""

    word: ClassVar[str]

    def __init__(self, unit: str = "", doc: str = ""):
        self.unit, self.doc = unit, doc
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def _numbers(self) -> str:
        return ""

    def line(self, word: str | None = None) -> str:
        unit = self.unit or "-"
        if any(c.isspace() for c in unit):
            unit = f'"{unit}"'
        doc = " ".join(self.doc.split()) or self.name
        return " ".join(f"{word or self.word} {self.name} {unit} {self._numbers()} {doc}".split(" "))


class _Ranged(Quantity):
    def __init__(self, default: float | None, unit: str, minimum: float, maximum: float, doc: str):
        super().__init__(unit, doc)
        self.default, self.minimum, self.maximum = default, minimum, maximum

    def _numbers(self) -> str:
        default = "required" if self.default is None else repr(float(self.default))
        return f"{default} {float(self.minimum)!r} {float(self.maximum)!r}"


class Parameter(_Ranged):
    """A number that the scenario gives, or else `default`, in its `unit`."""

    word = "parameter"

    def __init__(self, default: float, unit: str = "", minimum: float = -1e12, maximum: float = 1e12,
                 doc: str = ""):
        super().__init__(default, unit, minimum, maximum, doc)


class Input(_Ranged):
    """What the model gets at each step. Without a `default` it must be connected."""

    word = "input"

    def __init__(self, unit: str = "", default: float | None = None, minimum: float = -1e12,
                 maximum: float = 1e12, doc: str = ""):
        super().__init__(default, unit, minimum, maximum, doc)


class Output(Quantity):
    """What the model computes: set it in output() or step()."""

    word = "output"


class State(_Ranged):
    """Something that the model keeps from step to step, with an initial value that the scenario may
    give. With `output=True` it is an output, too."""

    word = "state"

    def __init__(self, default: float = 0, unit: str = "", minimum: float = -1e12,
                 maximum: float = 1e12, doc: str = "", output: bool = False):
        super().__init__(default, unit, minimum, maximum, doc)
        self.output = output


class Model:
    """A plant or a law. A subclass has Parameter, Input, Output and State attributes, and a step().
    The first line of its docstring says what it is.

    In an instance all of these are floats: a step reads inputs and parameters, and sets states and
    outputs. An exception ends the run, with its text. What is printed goes to standard error."""

    kind: ClassVar[str] = "continuous"
    """"continuous" for a plant, whose step covers the period that ends at `time_s` while the inputs
    were held; "sampled" for a law, whose step computes outputs from the inputs of that time."""

    period_s: float
    """The period of the node, s."""
    time_s: float
    """The time of the step, s from the start of the run. In real time a step may be left out, so use
    this and not the number of steps."""

    def create(self) -> None:
        """Called once, when parameters and initial states are set. Raise ValueError if they make no
        sense together."""

    def output(self) -> None:
        """Sets the outputs from states and inputs: of a continuous model at the start, and after
        each step."""

    def step(self) -> None:
        """Advances to `time_s`."""
        raise NotImplementedError(f"{type(self).__name__} has no step()")


def quantities(model: type[Model]) -> list[Quantity]:
    """Those of a class, in the order of its body, its bases' first."""
    found: dict[str, Quantity] = {}
    for base in reversed(model.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, Quantity):
                found[name] = value
            elif name in found:
                del found[name]
    return list(found.values())


def _is_output(quantity: Quantity) -> bool:
    return isinstance(quantity, Output) or (isinstance(quantity, State) and quantity.output)


def tables(model: type[Model]) -> list[str]:
    """The lines with which a program tells hiloco what it is (docs/writing-a-program.md)."""
    doc = (inspect.getdoc(model) or model.__name__).splitlines()[0]
    lines = ["hiloco 1", f"name {model.__name__}", f"doc {doc}", f"kind {model.kind}"]
    for quantity in quantities(model):
        if isinstance(quantity, State) and quantity.output:
            lines.append(Quantity.line(_as_output(quantity)))
        lines.append(quantity.line())
    return [*lines, "ready"]


def _as_output(state: State) -> Output:
    output = Output(state.unit, state.doc)
    output.name = state.name
    return output


class _Server:
    """Answers hiloco's lines for one component."""

    def __init__(self, model: type[Model]):
        self.model, self.component = model, model()
        known = quantities(model)
        self.inputs = [q.name for q in known if isinstance(q, Input)]
        self.outputs = [q.name for q in known if _is_output(q)]
        self.given = ([q.name for q in known if isinstance(q, Parameter)]
                      + [q.name for q in known if isinstance(q, State)])

    def _take(self, names: list[str], numbers: list[str]) -> None:
        for name, number in zip(names, numbers, strict=True):
            setattr(self.component, name, float(number))

    def _outputs(self) -> str:
        return " ".join([repr(self._number(name)) for name in self.outputs])

    def _number(self, name: str) -> float:
        value = getattr(self.component, name)
        if isinstance(value, Quantity):
            raise ValueError(f"{self.model.__name__}.{name} is not set; step() or output() must set it")
        return float(value)

    def answer(self, line: str) -> str:
        word, *numbers = line.split()
        component = self.component
        if word == "create":
            component.period_s, component.time_s = float(numbers[0]), 0.0
            self._take(self.given, numbers[1:])
            component.create()
            return "ok"
        if word == "step":
            component.time_s = int(numbers[0]) * 1e-9
            self._take(self.inputs, numbers[1:])
            component.step()
            component.output()
        else:
            self._take(self.inputs, numbers)
            component.output()
        return self._outputs()


def load(file: str, name: str) -> type[Model]:
    """The class of this name in a file."""
    spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(file))[0], file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file; allowed: one that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    model = getattr(module, name, None)
    if isinstance(model, type) and issubclass(model, Model):
        return model
    models = [key for key, value in vars(module).items()
              if isinstance(value, type) and issubclass(value, Model) and value is not Model]
    what = "no subclass of hiloco.Model" if model is not None else "not there"
    raise ImportError(f"its class {name} is {what}; allowed: {', '.join(models) or 'a subclass of hiloco.Model'}")


def _why(error: BaseException) -> str:
    """An exception in one line, with the place in the user's file."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if not frame.filename.startswith(("<frozen", os.path.dirname(__file__)))]
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{os.path.basename(error.filename or '')}:{error.lineno}: {text}"
    return f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}: {text}" if frames else text


def serve(file: str, name: str) -> int:
    """Runs a model as the process of a component, until hiloco closes the socket."""
    connection = socket.socket(fileno=int(os.environ.pop("HILOCO_FD")))
    stream: TextIO = connection.makefile("rw", encoding="utf-8", newline="\n")

    def say(*lines: str) -> None:
        stream.write("".join(f"{line}\n" for line in lines))
        stream.flush()

    try:
        server = _Server(load(file, name))
        lines = tables(server.model)
    except Exception as error:
        say("hiloco 1", f"error {_why(error)}")
        return 1
    say(*lines)
    for line in stream:
        try:
            answer = server.answer(line)
        except Exception as error:
            traceback.print_exc()
            answer = f"error {_why(error)}"
        say(answer)
    return 0


