"""Which versions of ONNX the releases of ONNX Runtime take, and whether their kernels are known."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from netloupe.explorer.errors import CheckError

from .kernels import list_known, list_releases


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
    has_kernels
        Whether it is known which kernels it has.
    """

    name: str
    opsets: dict[str, int]
    ir_version: int
    has_kernels: bool = False

    @property
    def release(self) -> str:
        """The release: ``1.17``."""
        return self.name.removeprefix("ort-")

    @property
    def title(self) -> str:
        """What it is called in messages: ``ONNX Runtime 1.17``."""
        return f"ONNX Runtime {self.release}"


#: the oldest operator set that all of them take (docs/reference/compatibility.md)
OLDEST_OPSET = 7


@cache
def list_runtimes() -> dict[str, Runtime]:
    """Return the releases that are known by their names, the oldest first."""
    known = list_known()
    return {
        f"ort-{release}": Runtime(
            f"ort-{release}", said["opsets"], said["ir_version"], has_kernels=release in known
        )
        for release, said in list_releases().items()
    }


def find_runtime(name: str) -> Runtime:
    """Return a runtime by its name, ``ort-1.17`` or ``ort-1.17.3``.

    Raises
    ------
    CheckError
        Where it is not known.
    """
    runtimes = list_runtimes()
    parts = name.lower().split(".")
    found = runtimes.get(".".join(parts[:2]))
    if found is not None and all(part.isdecimal() for part in parts[2:]):
        return found
    near = get_close_matches(name, runtimes, 1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    names = list(runtimes)
    raise CheckError(
        f"the target {name[:60]!r} is not known. {hint}Known are {names[0]} to {names[-1]}."
    )
