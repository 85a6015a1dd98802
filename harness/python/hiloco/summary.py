"""JSON objects whose keys are attributes, too."""

from __future__ import annotations

import difflib
import json
from typing import Any


class Attributes(dict[str, Any]):
    """An object of summary.json: `summary.measures.output_v.settling_ms` is
    `summary["measures"]["output_v"]["settling_ms"]`. A name that is no identifier, such as that of
    the node converter[3], or is a method's, such as items, needs the second form."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(unknown("key", name, self)) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(key for key in self if key.isidentifier())]


def unknown(what: str, name: str, known: Any) -> str:
    """Says that there is no such name, and what there is."""
    names = [str(one) for one in known]
    near = difflib.get_close_matches(name, names, 1)
    meant = f" (did you mean '{near[0]}'?)" if near else ""
    shown = ", ".join(names[:40]) + (f" and {len(names) - 40} more" if len(names) > 40 else "")
    return f"there is no {what} '{name}'{meant}; there is: {shown or 'none'}"


def parse(text: str) -> Any:
    return json.loads(text, object_hook=Attributes)
