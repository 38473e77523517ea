"""Which versions of ONNX the releases of ONNX Runtime take."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from netloupe.explorer.errors import CheckError


@dataclass(frozen=True, slots=True)
class Runtime:
    """A release of ONNX Runtime.

    Parameters
    ----------
    name
        ``ort-1.17``.
    opsets
        The newest operator set by domain.
    ir_version
        The newest IR version.
    """

    name: str
    opsets: dict[str, int]
    ir_version: int

    @property
    def title(self) -> str:
        """What it is called in messages: ``ONNX Runtime 1.17``."""
        return f"ONNX Runtime {self.name.removeprefix('ort-')}"


#: by release of ONNX Runtime: operator set, operator set of ai.onnx.ml, IR version. From the table
#: "ONNX opset support" of its documentation (docs/reference/compatibility.md); what that page does
#: not list is not here
_TABLE = {
    "1.0": (11, 2, 6),
    "1.1": (11, 2, 6),
    "1.2": (11, 2, 6),
    "1.3": (12, 2, 7),
    "1.4": (12, 2, 7),
    "1.5": (12, 2, 7),
    "1.6": (13, 2, 7),
    "1.7": (13, 2, 7),
    "1.8": (14, 2, 7),
    "1.9": (15, 2, 8),
    "1.10": (15, 2, 8),
    "1.11": (16, 2, 8),
    "1.12": (17, 3, 8),
    "1.13": (17, 3, 8),
    "1.14": (18, 3, 8),
    "1.15": (19, 3, 8),
    "1.16": (19, 3, 9),
    "1.17": (20, 4, 9),
    "1.18": (21, 4, 10),
    "1.19": (21, 4, 10),
    "1.20": (21, 4, 10),
}
#: the oldest operator set that all of them take (same page)
OLDEST_OPSET = 7

RUNTIMES = {
    f"ort-{version}": Runtime(f"ort-{version}", {"": opset, "ai.onnx.ml": ml}, ir)
    for version, (opset, ml, ir) in _TABLE.items()
}


def find_runtime(name: str) -> Runtime:
    """Return a runtime by its name, ``ort-1.17`` or ``ort-1.17.3``.

    Raises
    ------
    CheckError
        Where it is not known.
    """
    parts = name.lower().split(".")
    found = RUNTIMES.get(".".join(parts[:2]))
    if found is not None and all(part.isdecimal() for part in parts[2:]):
        return found
    near = get_close_matches(name, RUNTIMES, 1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    names = list(RUNTIMES)
    raise CheckError(
        f"the target {name[:60]!r} is not known. {hint}Known are {names[0]} to {names[-1]}."
    )
