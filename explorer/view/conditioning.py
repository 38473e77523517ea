"""What a value is that steers blocks: the embedding of a step, alone or beside other inputs.

A diffusion's network is told the step, as sines and cosines of it behind an MLP (J. Ho and others,
Denoising Diffusion Probabilistic Models, 2020, appendix B); what it is told beside that is added to
this or joined with it.
"""

from __future__ import annotations

from netloupe.explorer.dataflow import find_source, is_input_independent
from netloupe.explorer.model import Node, TensorType, Value
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.roles import find_weight

TIME = "time embedding"
#: what comes of a step and of something that is added to it
CONDITIONING = "conditioning"

#: so many nodes are looked at
_MOST_LOOKED = 96
_SCALING = ("divides", "multiplies", "multiplies_elements", "picks", "repeats")
#: so many of them stand between a step and its sines
_MOST_STEPS = 6
#: sines and cosines change places by joining parts of what was joined
_MOST_JOINS = 2
#: what is joined is told of so many parts, in so many letters each
_MOST_PARTS, _MOST_LETTERS = 3, 16


def name_conditioning(value: Value) -> str:
    """Return what a value is, where it is computed of a step; "" for anything else."""
    sources = _Sources(value)
    if sources.are_known and sources.is_of_step:
        return CONDITIONING if sources.others else TIME
    if sources.is_of_step or sources.others or len(sources.joins) != 1:
        return ""
    parts = [_name_part(part) for part in _list_computed(sources.joins[0])]
    is_told = TIME in parts and all(parts) and len(parts) <= _MOST_PARTS
    return ", ".join(parts) if is_told else ""


def _name_part(value: Value) -> str:
    source = find_source(value, *LAYOUT_TRAITS)
    if source is not None and source.is_input:
        return source.name if len(source.name) <= _MOST_LETTERS else ""
    sources = _Sources(value)
    is_step = sources.are_known and sources.is_of_step and not sources.others
    return TIME if is_step else ""


class _Sources:
    """What a value is computed of by linear layers, activations and other elementwise operators.

    Parameters
    ----------
    value
        Any value.
    """

    def __init__(self, value: Value) -> None:
        #: whether a step is among it, by its sines and a layer with weights
        self.is_of_step = False
        #: how many inputs and rows of tables are
        self.others = 0
        #: what puts other values side by side
        self.joins: list[Node] = []
        self._sines: set[Value | None] = set()
        self._is_learned = False
        self._is_odd = False
        self._trace(value)
        self.is_of_step = self._is_learned and len(self._sines - {None}) == 1

    @property
    def are_known(self) -> bool:
        """Whether there is nothing else."""
        return not self._is_odd and not self.joins and len(self._sines) < 2

    def _trace(self, value: Value) -> None:
        pending, seen = [value], {value}
        while pending:
            current = pending.pop()
            node = current.producer
            if len(seen) > _MOST_LOOKED:
                self._is_odd = True
                return
            if node is None:
                self.others += 1
                continue
            before = _list_computed(node)
            if node.operator.has("takes_sine"):
                self._sines.add(_find_step(node))
                continue
            if node.operator.has("joins") and not all(map(_is_sine, before)):
                self.joins.append(node)
                continue
            has_weight = find_weight(node) is not None
            if has_weight and node.operator.has("looks_up"):
                self.others += 1
                continue
            if has_weight and node.operator.has("multiplies"):
                self._is_learned = True
            elif not node.operator.has(
                "elementwise", "activates", "joins", *LAYOUT_TRAITS
            ) and not (node.operator.has("picks") and _is_sine(current)):
                self._is_odd = True
                continue
            for one in before:
                if one not in seen:
                    seen.add(one)
                    pending.append(one)


def _is_sine(value: Value, depth: int = 0) -> bool:
    """Return whether a value is sines, or some of them side by side, in any order."""
    source = find_source(value, *LAYOUT_TRAITS, "picks")
    node = source.producer if source is not None else None
    if node is None or depth > _MOST_JOINS:
        return False
    if node.operator.has("joins"):
        parts = _list_computed(node)
        return 0 < len(parts) <= _MOST_PARTS and all(_is_sine(part, depth + 1) for part in parts)
    return node.operator.has("takes_sine")


def _find_step(node: Node) -> Value | None:
    """Return the input of one number for each example of which a sine is taken; None for none."""
    value: Value | None = node.input(0)
    for _ in range(_MOST_STEPS):
        value = find_source(value, *LAYOUT_TRAITS)
        if value is None or value.producer is None:
            return value if value is not None and _is_one_number(value) else None
        before = _list_computed(value.producer)
        is_scaled = value.producer.operator.has(*_SCALING)
        value = before[0] if is_scaled and len(before) == 1 else None
    return None


def _is_one_number(value: Value) -> bool:
    kind = value.type
    shape = kind.shape if isinstance(kind, TensorType) else None
    return shape is not None and all(dim.value == 1 for dim in shape[1:])


def _list_computed(node: Node) -> list[Value]:
    return [value for value in node.inputs if value is not None and not is_input_independent(value)]
