"""How operators run the graphs inside them: If, Loop, Scan and their like.

Source: ONNX operator specification (If-21, Loop-21, Scan-21, SequenceMap-17); Caffe2's If, While
and Do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from netloupe.explorer.dataflow import find_source
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Attribute, Node, Value, data_type
from netloupe.explorer.model.stored_tensors import find_stored_tensor

from .facts import Dim, Fact
from .polynomial import Amount
from .symbols import Symbols
from .work import Gap, Work, add_works, choose_work, repeat_work

if TYPE_CHECKING:
    from .value_facts import ValueFacts

_INT64, _BOOL = data_type("int64"), data_type("bool")
#: a trip count from here on is no limit
_ENDLESS = 2**31 - 1
#: so many copies are looked through for where a condition comes from
_MOST_COPIES = 20
#: the operator set from which on Scan has no batch axis
_SCANNED = 9

Attributes = Mapping[str, Attribute | None]


@dataclass(frozen=True)
class Runs:
    """How the graphs of one node run.

    Parameters
    ----------
    inputs
        What is known of the inputs of each graph.
    carried
        Which input of a graph gets which of its outputs in the next trip.
    finish
        Gives work and results from the work and the outputs of each graph.
    """

    node: Node
    inputs: Sequence[Fact] = ()
    carried: Mapping[int, int] = field(default_factory=dict)
    finish: Callable[[Symbols, str, list[tuple[Work, list[Fact]]]], tuple[Work, list[Fact]]] = (
        lambda symbols, label, bodies: (add_works((work, 1) for work, _ in bodies), [])
    )

    def widen(self, outputs: Sequence[list[Fact]]) -> Runs:
        """Return the same with nothing known of what differs from trip to trip."""
        inputs = list(self.inputs)
        for place, output in self.carried.items():
            for facts in outputs:
                if place < len(inputs) and output < len(facts):
                    inputs[place] = _join_facts(inputs[place], facts[output])
        return replace(self, inputs=inputs)

    def end(
        self, symbols: Symbols, label: str, bodies: list[tuple[Work, list[Fact]]]
    ) -> tuple[Work, list[Fact]]:
        """Return the work of all runs, and what is known of the node's results."""
        return self.finish(symbols, label, bodies)


class Body:
    """An operator that runs its graphs in a way that is not known: once each, at least."""

    def start(self, node: Node, operands: Sequence[Fact], attributes: Attributes) -> Runs:
        """Return how the graphs of a node run."""

        def finish(
            symbols: Symbols, label: str, bodies: list[tuple[Work, list[Fact]]]
        ) -> tuple[Work, list[Fact]]:
            work = add_works((work, 1) for work, _ in bodies)
            gap = Gap(label, "how often its graphs run is not known")
            return work._replace(gaps={**work.gaps, gap: 1}), []

        return Runs(node, finish=finish)


class Branches(Body):
    """If: one of two graphs runs; of Caffe2 the same, or one graph or none."""

    def start(self, node: Node, operands: Sequence[Fact], attributes: Attributes) -> Runs:
        """Return how the graphs of a node run."""

        def finish(
            symbols: Symbols, label: str, bodies: list[tuple[Work, list[Fact]]]
        ) -> tuple[Work, list[Fact]]:
            works = [work for work, _ in bodies]
            if len(works) == 1:  # the other branch does nothing
                works.append(Work())
            facts = bodies[0][1]
            for _, others in bodies[1:]:
                facts = [_join_facts(one, two) for one, two in zip(facts, others, strict=False)]
            return choose_work(works), facts

        return Runs(node, finish=finish)


class Loop(Body):
    """Loop: a graph runs as often as it is told, or until a condition no longer holds."""

    def start(self, node: Node, operands: Sequence[Fact], attributes: Attributes) -> Runs:
        """Return how the graph of a node runs."""
        count = len(operands) - 2
        limit = operands[0].elements if operands else None
        trips: Dim = limit[0] if limit is not None and len(limit) == 1 else None
        if isinstance(trips, int):
            trips = max(trips, 0) if trips < _ENDLESS else None
        ends_early = not _is_kept(node)
        inputs = [Fact((), _INT64), Fact((), _BOOL), *operands[2:]]

        def finish(
            symbols: Symbols, label: str, bodies: list[tuple[Work, list[Fact]]]
        ) -> tuple[Work, list[Fact]]:
            work, outputs = bodies[0]
            is_exact = trips is not None and not ends_early
            times = name_trips(symbols, node) if trips is None else trips
            results = [_vary(fact) for fact in outputs[1 : count + 1]]
            for fact in outputs[count + 1 :]:
                known = None if fact.dims is None else (times if is_exact else None, *fact.dims)
                results.append(Fact(known, fact.dtype))
            is_most = trips is not None and ends_early
            return repeat_work(work, times, is_most=is_most), results

        return Runs(node, inputs, {place: place - 1 for place in range(2, count + 2)}, finish)


class Scan(Body):
    """Scan: a graph runs once for each entry of its scanned operands."""

    def start(self, node: Node, operands: Sequence[Fact], attributes: Attributes) -> Runs:
        """Return how the graph of a node runs."""
        given = attributes
        number = given.get("num_scan_inputs")
        scanned = number.value if number is not None else None
        is_batched = (node.opset_version or _SCANNED) < _SCANNED  # a batch of scans, before 9
        if is_batched or not isinstance(scanned, int) or not 0 < scanned <= len(operands):
            return super().start(node, operands, attributes)
        states = len(operands) - scanned
        axes = _read_axes(given, "scan_input_axes", scanned)
        trips: Dim = None
        inputs = list(operands[:states])
        for fact, axis in zip(operands[states:], axes, strict=True):
            dims = fact.dims
            if dims is None or not -len(dims) <= axis < len(dims):
                inputs.append(Fact(None, fact.dtype))
                continue
            place = axis % len(dims)
            trips = dims[place] if not isinstance(trips, int) and dims[place] is not None else trips
            inputs.append(Fact((*dims[:place], *dims[place + 1 :]), fact.dtype))

        def finish(
            symbols: Symbols, label: str, bodies: list[tuple[Work, list[Fact]]]
        ) -> tuple[Work, list[Fact]]:
            work, outputs = bodies[0]
            times = name_trips(symbols, node) if trips is None else trips
            results = [_vary(fact) for fact in outputs[:states]]
            more = outputs[states:]
            places = _read_axes(given, "scan_output_axes", len(more))
            for fact, axis in zip(more, places, strict=True):
                dims = fact.dims
                if dims is None or not -len(dims) - 1 <= axis <= len(dims):
                    results.append(Fact(None, fact.dtype))
                    continue
                place = axis % (len(dims) + 1)
                results.append(Fact((*dims[:place], trips, *dims[place:]), fact.dtype))
            return repeat_work(work, times), results

        return Runs(node, inputs, {place: place for place in range(states)}, finish)


class Repeated(Body):
    """SequenceMap, and While of Caffe2: graphs run as often as what is in the data."""

    def start(self, node: Node, operands: Sequence[Fact], attributes: Attributes) -> Runs:
        """Return how the graphs of a node run."""

        def finish(
            symbols: Symbols, label: str, bodies: list[tuple[Work, list[Fact]]]
        ) -> tuple[Work, list[Fact]]:
            work = add_works((work, 1) for work, _ in bodies)
            return repeat_work(work, name_trips(symbols, node)), []

        return Runs(node, finish=finish)


class Once(Body):
    """Do of Caffe2: a graph runs once."""

    def start(self, node: Node, operands: Sequence[Fact], attributes: Attributes) -> Runs:
        """Return how the graph of a node runs."""
        return Runs(node)


#: by operator, the class of this module that tells how its graphs run
BODIES: dict[str, Body] = {
    "If": Branches(),
    "AsyncIf": Branches(),
    "Loop": Loop(),
    "Scan": Scan(),
    "SequenceMap": Repeated(),
    "While": Repeated(),
    "Do": Once(),
}


def name_trips(symbols: Symbols, node: Node) -> Amount:
    """Return the symbol for how often a node runs its graph: ``Loop_3.trips``."""
    return symbols.name(f"{node.path.removeprefix('main/')}.trips")


def _read_axes(given: Mapping[str, Attribute | None], name: str, count: int) -> tuple[int, ...]:
    attribute = given.get(name)
    value = attribute.value if attribute is not None else None
    is_list = isinstance(value, tuple) and len(value) == count
    if not is_list or not all(isinstance(axis, int) for axis in value):  # type: ignore[union-attr]
        return (0,) * count
    return value  # type: ignore[return-value]


def _join_facts(one: Fact, two: Fact) -> Fact:
    """Return what is known of a value that is one of two."""
    dims = None
    if one.dims is not None and two.dims is not None and len(one.dims) == len(two.dims):
        pairs = zip(one.dims, two.dims, strict=True)
        dims = tuple(left if left == right else None for left, right in pairs)
    elements = one.elements if one.elements == two.elements else None
    dtype = one.dtype if one.dtype == two.dtype else None
    return Fact(dims, dtype, elements, kind=one.kind if one.kind == two.kind else "")


def _vary(fact: Fact) -> Fact:
    """Return a fact of a value that differs from trip to trip."""
    return Fact(fact.dims, fact.dtype, kind=fact.kind)


def count_trips(node: Node, facts: ValueFacts) -> int | None:
    """Return how often a Loop or Scan runs its graph where the file tells it; else None.

    Source: ONNX operator specification (Loop-21, Scan-21).

    Parameters
    ----------
    node
        Any node.
    facts
        What is known of the values of its model.
    """
    if node.operator.form == "Scan":
        stated = node.attributes.get("num_scan_inputs")
        scanned = stated.value if stated is not None else None
        if not isinstance(scanned, int) or not 0 < scanned <= len(node.inputs):
            return None
        if (node.opset_version or _SCANNED) < _SCANNED:
            return None
        operands = node.inputs[-scanned:]
        axes = _read_axes(node.attributes, "scan_input_axes", scanned)
        counts = set()
        for operand, axis in zip(operands, axes, strict=True):
            dims = facts.find_dims(operand)
            known = dims is not None and -len(dims) <= axis < len(dims)
            counts.add(dims[axis] if dims is not None and known else None)
        count = counts.pop() if len(counts) == 1 else None
        return count if isinstance(count, int) else None
    if node.operator.form != "Loop" or not node.subgraphs:
        return None
    if not (_is_kept(node) and _begins_true(node)):
        return None
    limit = facts.find_elements(node.input(0))
    trips = limit[0] if limit is not None and len(limit) == 1 else None
    return max(trips, 0) if isinstance(trips, int) and trips < _ENDLESS else None


def _is_kept(node: Node) -> bool:
    """Return whether a Loop never ends early: its condition is handed on, or left out."""
    body = node.subgraphs[0]
    if not body.outputs:
        return True
    value = find_source(body.outputs[0], "casts", "copies", most=_MOST_COPIES)
    if len(body.inputs) > 1 and value is body.inputs[1]:
        return _begins_true(node)
    return value is not None and _is_true(value)


def _begins_true(node: Node) -> bool:
    condition = node.input(1)
    return condition is None or _is_true(condition)


def _is_true(value: Value) -> bool:
    tensor = find_stored_tensor(value)
    if tensor is None or tensor.size != 1 or tensor.dtype.name != "bool":
        return False
    try:
        return bool(tensor.numpy().ravel()[0])
    except NetloupeError:
        return False
