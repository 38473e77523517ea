"""Keys by which units are paired: numbers that are equal for what is likely to be the same."""

from __future__ import annotations

import re

from netloupe.explorer.model import Node, Tensor
from netloupe.explorer.progress import step

from .digests import digest_weight, shape_of_digest
from .hashing import Hashes, hash_each
from .units import Units

_STEP = 1_000
#: what exporters number through: ``Conv_12``, ``node_Add_7``, ``x.31``, ``val_5``, ``onnx::Add_3``
_NUMBERED = re.compile(r"(?:[A-Za-z]+::)?[A-Za-z_]*[._]?\d*(?:[._]\d+)*")
#: metadata in which exporters say where a node comes from
_ORIGINS = ("pkg.torch.onnx.name_scopes", "namespace", "pkg.torch.onnx.fx_node")


class WeightDigests:
    """Digests of the weights of two graphs; of those alone that have their like on both sides.

    Parameters
    ----------
    left, right
        The units of the graphs.
    """

    def __init__(self, left: Units, right: Units) -> None:
        self._sides = left, right
        shapes = [
            {shape_of_digest(tensor) for weights in units.weights for tensor in weights}
            for units in self._sides
        ]
        self._shapes = shapes[0] & shapes[1]
        self._known: dict[Tensor, int | None] = {}

    def key(self, place: int) -> tuple[Hashes, Hashes]:
        """Return by unit the digest of its largest weight (0), or of the one after that (1)."""
        left, right = (self._digest_units(units, place) for units in self._sides)
        return left, right

    def _digest_units(self, units: Units, place: int) -> Hashes:
        found: list[int | None] = []
        for number, weights in enumerate(units.weights):
            if not number % _STEP:
                step()
            by_size = sorted(weights, key=lambda tensor: -tensor.size)
            found.append(self._digest(by_size[place]) if place < len(by_size) else None)
        return hash_each(found)

    def _digest(self, tensor: Tensor) -> int | None:
        if shape_of_digest(tensor) not in self._shapes:
            return None
        if tensor not in self._known:
            self._known[tensor] = digest_weight(tensor)
        return self._known[tensor]


def key_by_names(units: Units) -> Hashes:
    """Return hashes of names with what is done, where names are no mere numbers."""
    names = [find_telling_name(units.head(unit)) for unit in range(len(units))]
    pairs = zip(names, units.kinds, strict=True)
    return hash_each(None if name is None else (name, kind) for name, kind in pairs)


def find_telling_name(node: Node) -> str | None:
    """Return the name of a node, else that of its first result; None where it is but a number."""
    results = [value.name for value in node.outputs if value is not None]
    for name in (node.name, *results[:1]):
        if name and not _NUMBERED.fullmatch(name):
            return name
    return None


def key_by_numbered_names(units: Units) -> Hashes:
    """Return hashes of any names with what is done."""
    return hash_each(
        (units.head(unit).name, kind) if units.head(unit).name else None
        for unit, kind in enumerate(units.kinds)
    )


def key_by_origin(units: Units) -> Hashes:
    """Return hashes of what the exporter says of where a node comes from."""
    found: list[tuple[str, str, str] | None] = []
    for unit, kind in enumerate(units.kinds):
        origin = find_stated_origin(units.head(unit))
        found.append(None if origin is None else (*origin, kind))
    return hash_each(found)


def find_stated_origin(node: Node) -> tuple[str, str] | None:
    """Return what the exporter says of where a node comes from: key and text of its metadata."""
    metadata = node.metadata
    key = next((key for key in _ORIGINS if metadata.get(key)), None)
    return None if key is None else (key, metadata[key])
