"""What rules look at: a model, and what several of them need, worked out once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from netloupe.explorer.costs.analysis import Analysis
from netloupe.explorer.costs.costs import analyze
from netloupe.explorer.costs.facts import UNKNOWN, Fact
from netloupe.explorer.model import Attribute, Graph, Model, Node, Tensor, Value
from netloupe.explorer.model.node_keys import key_whole_attributes
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.quantization.sources import list_statements

from .noted import collect_noted
from .rule import Occurrence
from .runtimes import Runtime
from .stated import Contradiction, list_contradictions
from .stored_codes import QuantizedWeights
from .stored_numbers import StoredNumbers
from .uses import Uses

#: attributes that are kept
_MOST_KEPT = 100_000


class Subject:
    """A model that rules are applied to.

    Parameters
    ----------
    target
        The runtime that it is meant for; None for none.
    """

    def __init__(self, model: Model, target: Runtime | None = None) -> None:
        self.model = model
        self.target = target
        self._attributes: dict[bytes, Mapping[str, Attribute]] = {}
        self._left_out: dict[str, None] = {}

    @cached_property
    def graphs(self) -> list[Graph]:
        """Every graph of the model."""
        return self.model.graphs

    @property
    def is_onnx(self) -> bool:
        """Whether operators belong to sets with versions, as those of ONNX do."""
        return self.model.dialect.has_opsets

    @cached_property
    def noted(self) -> dict[str, list[Occurrence]]:
        """What readers and the search for oddities have said, by the rule that it belongs to."""
        return collect_noted(self.model)

    @cached_property
    def numbers(self) -> StoredNumbers:
        """What stored numbers are like; every tensor is read for it."""
        return StoredNumbers(self.model)

    @cached_property
    def scales(self) -> set[Tensor]:
        """The stored scales of quantized values."""
        values = (each.scale for graph in self.graphs for each in list_statements(graph))
        tensors = (find_stored_tensor(value) for value in values if value is not None)
        return {tensor for tensor in tensors if tensor is not None}

    @cached_property
    def quantized(self) -> QuantizedWeights:
        """The quantized weights, and what their codes are like."""
        return QuantizedWeights(self.model)

    @property
    def gap(self) -> str:
        """What of the stored numbers could not be looked at, in words; "" for nothing."""
        told = [
            looked.gap
            for name, looked in self.__dict__.items()
            if name in ("numbers", "quantized") and looked.gap
        ]
        return "; ".join(told)

    def leave_out(self, what: str) -> None:
        """Note what the rule at hand does not look at, and why."""
        self._left_out.setdefault(what)

    def take_left_out(self) -> list[str]:
        """Return what was left out since this was asked last."""
        left, self._left_out = list(self._left_out), {}
        return left

    @cached_property
    def analysis(self) -> Analysis:
        """What follows of types and shapes without computing."""
        return analyze(self.model)

    @cached_property
    def uses(self) -> Uses:
        """The uses of operators, those of equal operand types as one."""
        return Uses(self.analysis, self.graphs)

    @cached_property
    def contradictions(self) -> list[Contradiction]:
        """The values of which the file states something else than follows."""
        return list_contradictions(self.analysis, self.graphs)

    def attribute(self, node: Node, name: str) -> Any:
        """Return the value of an attribute, None without it; read once for all nodes alike.

        A million nodes would keep the details of each.
        """
        key = key_whole_attributes(node)
        known = self._attributes.get(key)
        if known is None:
            known = node.attributes
            if len(self._attributes) < _MOST_KEPT:
                self._attributes[key] = known
        found = known.get(name)
        return None if found is None else found.value

    def integer(self, node: Node, name: str) -> int | None:
        """Return the value of an attribute that is to be an integer; None where it is none."""
        value = self.attribute(node, name)
        return value if isinstance(value, int) else None

    def integers(self, node: Node, name: str) -> tuple[int, ...] | None:
        """Return the value of an attribute that is to list integers; None where it does not."""
        value = self.attribute(node, name)
        is_list = isinstance(value, tuple) and all(isinstance(entry, int) for entry in value)
        return value if is_list else None

    def fact(self, value: Value | None) -> Fact:
        """Return what is known of a value where its graph runs, with the first kind of operands."""
        frames = self.analysis.frames_of(value.graph) if value is not None else []
        if value is None or not frames:
            return UNKNOWN
        return self.analysis.facts.of(frames[0].facts[value])
