"""Keys by which units are paired: numbers that are equal for what is likely to be the same."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Graph, Node, Tensor
from netloupe.explorer.progress import is_ending, step
from netloupe.explorer.quantization.quantized_elements import open_weight
from netloupe.explorer.quantization.quantized_weights import QuantizedWeight, list_quantized_weights

from .activations import BLOCKED_DOMAIN
from .blocked_weights import list_blocked_twins
from .digests import digest_weight, shape_of_digest
from .hashing import Hashes, hash_each
from .twin_weights import TwinWeights
from .units import Units

_STEP = 1_000
#: what exporters number through: ``Conv_12``, ``node_Add_7``, ``x.31``, ``val_5``, ``onnx::Add_3``
_NUMBERED = re.compile(r"(?:[A-Za-z]+::)?[A-Za-z_]*[._]?\d*(?:[._]\d+)*")
#: what quantizers and optimizers write behind the names of nodes and of what these give
_ADDED = re.compile(
    r"(_output_quantized|_quantized|_quant|_QuantizeLinear(_Input|_Output)?|_nchwc|_fp16"
    r"|_DequantizeLinear(_Input|_Output)?|_dequantized|_matmul_4bits?|_bnb4|_Q[248](G\d+)?)$",
    re.IGNORECASE,
)
#: so much is written behind a name, at most
_MOST_ADDED = 4
#: metadata in which exporters say where a node comes from
_ORIGINS = ("pkg.torch.onnx.name_scopes", "namespace", "pkg.torch.onnx.fx_node")


class WeightDigests:
    """Digests of the weights of two graphs; of those alone that have their like on both sides.

    A weight that one graph has quantized has the digest of the floats that it was made of, where
    the other graph has these: they are found by value. So it is with weights in blocks of channels.

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
        for coded, floats in ((left, right), (right, left)):
            for codes, twin in _list_twins(coded.graph, floats.graph):
                self._known[codes] = self._known[twin] = digest_weight(twin)
            for blocked, plain, _ in list_blocked_twins(coded.graph, floats.graph):
                self._known[blocked] = self._known[plain] = digest_weight(plain)

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
        if tensor not in self._known:
            if shape_of_digest(tensor) not in self._shapes:
                return None
            self._known[tensor] = digest_weight(tensor)
        return self._known[tensor]


def _list_twins(coded: Graph, floats: Graph) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield quantized weights of one graph with the floats of the other that they were made of."""
    twins: TwinWeights | None = None
    for number, weight in enumerate(list_quantized_weights(coded)):
        step("" if number else "looking for quantized weights")
        if weight.scheme == "simulated" or weight.is_bias:
            continue
        twins = TwinWeights(floats, {}) if twins is None else twins
        twin = _find_twin(weight, twins)
        if twin is not None:
            yield weight.tensor, twin


def _find_twin(weight: QuantizedWeight, twins: TwinWeights) -> Tensor | None:
    try:
        quantized = open_weight(weight)
        return None if quantized.codes.is_constant else twins.find(weight, quantized).tensor
    except NetloupeError as error:
        if is_ending(error):
            raise
        return None


def key_by_names(units: Units) -> Hashes:
    """Return hashes of names with what is done, where names are no mere numbers."""
    names = [find_telling_name(units.head(unit)) for unit in range(len(units))]
    return hash_each(
        None if name is None else (strip_added(name), kind)
        for name, kind in zip(names, units.kinds, strict=True)
    )


def key_by_results(units: Units, *, is_last: bool) -> Hashes:
    """Return hashes of the names of what is given, with what is done, where these are no numbers.

    Optimizers give the nodes that they put in the place of others new names, and keep those of
    what these give: of the last node of a unit, or of the one that it is named after.
    """
    names = _name_results(units, max if is_last else operator.itemgetter(0))
    return hash_each(
        None if name is None or _NUMBERED.fullmatch(name) else (strip_added(name), kind)
        for name, kind in zip(names, units.kinds, strict=True)
    )


def key_by_numbered_results(units: Units) -> Hashes:
    """Return hashes of any names of what is given, with what is done."""
    return hash_each(
        None if name is None else (strip_added(name), kind)
        for name, kind in zip(_name_results(units, max), units.kinds, strict=True)
    )


def _name_results(units: Units, choose: Callable[[tuple[int, ...]], int]) -> Iterator[str | None]:
    """Yield by unit the name of the one value that a node of it gives; None for none."""
    for members in units.members:
        node = units.graph.nodes[choose(members)]
        if node.domain == BLOCKED_DOMAIN:  # named after what it gives in another layout
            yield node.name or None
        else:
            result = node.output(0) if len(node.outputs) == 1 else None
            yield None if result is None else result.name


def strip_added(name: str) -> str:
    """Return a name without what quantizers and optimizers write behind it."""
    for _ in range(_MOST_ADDED):
        shorter = _ADDED.sub("", name)
        if shorter in (name, ""):
            break
        name = shorter
    return name


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
        (strip_added(units.head(unit).name), kind) if units.head(unit).name else None
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
