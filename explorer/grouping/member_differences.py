"""In what the members of a fold differ from the one that stands for all.

Compared are, one after the other, the operators that compute; from which of them each takes its
operands; whether those come from the same values around the member; attributes; and the widths of
what is stored. Members that differ in one of these are not compared in what follows, for that
would tell of the same once more. Layout, constants and arithmetic on shapes make no difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Literal, NamedTuple

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import find_source, is_input_independent
from netloupe.explorer.model import Node, Value
from netloupe.explorer.operators import HANDING_TRAITS
from netloupe.explorer.patterns.readings import read_int
from netloupe.explorer.roles import find_weight

from .member_plumbing import find_guarded, is_guard, list_routed

Kind = Literal["operators", "wiring", "streams", "attributes", "widths"]

#: of more values around a member it is not asked which of its nodes depend on which
_MOST_VALUES = 64
#: attributes that tell how something computes: how far it reaches, over which axes, and how
_TELLING = (
    *("strides", "dilations", "kernel_shape", "axes", "axis"),
    *("num_heads", "blocksize", "direction", "mode"),
)
_PAIR = 2
#: behind so many operands none tells sizes, places or axes
_MOST_ARRANGING = 8
#: what hands its first operand on, perhaps several times
_HANDING = (*HANDING_TRAITS, "repeats")
#: an operator that may take its operands in any order
_COMMUTING = ("adds", "joins", "multiplies_elements")


class Difference(NamedTuple):
    """In what some members differ from the one that stands for all.

    Parameters
    ----------
    kind
        What differs.
    odd
        The places of those members.
    more, fewer
        Of operators, what nodes one of these has beside those of the shown member, and lacks of
        them; of streams, which of its products are of two of them, and of the shown member's.
    """

    kind: Kind
    odd: tuple[int, ...]
    more: tuple[Node, ...] = ()
    fewer: tuple[Node, ...] = ()


def find_differences(members: Sequence[Sequence[Node]], shown: int) -> list[Difference]:
    """Return in what members differ from a shown one; members that differ alike together.

    Parameters
    ----------
    members
        The nodes of each, producers first.
    shown
        Which of them stands for all.

    Notes
    -----
    Linear in the nodes.
    """
    readers = [MemberReader(nodes) for nodes in members]
    routed = [*map(list_routed, members)]
    if all(routed):
        # how many experts an exporter met depends on the tokens that it followed
        for reader, left_out in zip(readers, routed, strict=True):
            reader.leave_out(left_out)
    whole = readers[shown].count("widths"), readers[shown].count("streams")
    left = [
        place
        for place, one in enumerate(readers)
        if place == shown or (one.count("widths"), one.count("streams")) != whole
    ]
    found: list[Difference] = []
    if len(left) == 1:
        return found
    kinds: tuple[Kind, ...] = ("operators", "wiring", "streams", "attributes", "widths")
    for kind in kinds:
        told = {place: readers[place].count(kind) for place in left}
        odd = [place for place in left if told[place] != told[shown]]
        left = [place for place in left if place not in {*odd}]
        if kind == "operators":  # one that works on stored values may have all nodes, too
            all_told = readers[shown].count_all()
            odd = [place for place in odd if readers[place].count_all() != all_told]
        alike: dict[frozenset[tuple[object, int]], list[int]] = {}
        for place in odd:
            alike.setdefault(frozenset(told[place].items()), []).append(place)
        for places in alike.values():
            more: tuple[Node, ...] = ()
            fewer: tuple[Node, ...] = ()
            one, other = readers[places[0]], readers[shown]
            if kind == "operators":
                more, fewer = one.list_beside(other), other.list_beside(one)
            elif kind == "streams":
                more, fewer = one.list_of_two_streams(), other.list_of_two_streams()
            found.append(Difference(kind, tuple(places), more, fewer))
    return found


def are_of_example(beside: Sequence[Node], others: Sequence[Node]) -> bool:
    """Return whether what a member has beside another one are experts that find their tokens.

    Exporters that follow an example write those experts alone that it was sent to.
    """
    if not all(any(node.operator.has(one) for node in beside) for one in ("scatters", "selects")):
        return False
    return {node.op_type for node in beside} <= {node.op_type for node in others}


def begins_stored(members: Sequence[Sequence[Node]]) -> bool:
    """Return whether a first member takes nothing but what others take, too: its stream is stored.

    What it would compute of that an exporter may have computed beforehand. What all layers of a
    dense block join is the stream of the first.
    """
    first, *others = map(MemberReader, members)
    taken = first.list_taken()
    if not others or not taken < set[Value]().union(*(one.list_taken() for one in others)):
        return False
    return not any(first.list_joined(taken) != one.list_joined(taken) for one in others)


def list_starts(first: Sequence[Node], second: Sequence[Node]) -> list[Node]:
    """Return the nodes of a first member that take something stored where the next one's do not.

    Nothing where the two differ in anything else: there a sum, a state or a prior begins.
    """
    readers = MemberReader(first), MemberReader(second)
    if [node.op_type for node in readers[0].nodes] != [node.op_type for node in readers[1].nodes]:
        return []
    starts = []
    for pair in zip(readers[0].nodes, readers[1].nodes, strict=True):
        ours, theirs = (one.tell_operands(node) for one, node in zip(readers, pair, strict=True))
        if ours != theirs:
            changed = [
                (own, other) for own, other in zip(ours, theirs, strict=False) if own != other
            ]
            if len(ours) != len(theirs) or any(own != "stored" for own, _ in changed):
                return []
            starts.append(pair[0])
    return starts


class MemberReader:
    """Tells what the nodes of one member compute, and of what.

    Parameters
    ----------
    nodes
        Its nodes, producers first.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._all = nodes
        self.nodes = [*filter(_computes, nodes)]
        self._inside = {*self.nodes}
        self._sources: dict[Value, Value] = {}

    def leave_out(self, nodes: Container[Node]) -> None:
        """Do not tell of some of its nodes."""
        self.nodes = [node for node in self.nodes if node not in nodes]
        self._inside = {*self.nodes}

    def count(self, kind: Kind) -> Counter[object]:
        """Return how many nodes there are of which there is the same to be told."""
        if kind == "operators":
            return Counter(node.op_type for node in self.nodes)
        if kind == "streams":
            return Counter(node.op_type for node in self.list_of_two_streams())
        return self._count_alike(with_attributes=kind != "wiring", with_widths=kind == "widths")

    def count_all(self) -> Counter[str]:
        """Return how many nodes each operator has, those among them that work on stored values."""
        return Counter(
            node.op_type for node in self._all if not node.operator.has(*_HANDING, "reads_shape")
        )

    def list_beside(self, other: MemberReader) -> tuple[Node, ...]:
        """Return the nodes that there are beside those of another member, by operator."""
        left = self.count("operators") - other.count("operators")
        found = []
        for node in reversed(self.nodes):
            if left[node.op_type]:
                left[node.op_type] -= 1
                found.append(node)
        return tuple(reversed(found))

    def list_alike(self) -> dict[int, list[Node]]:
        """Return the nodes that compute, by what each computes of what; attributes left out."""
        alike: dict[int, list[Node]] = {}
        for node, key in self._tell_apart(with_attributes=False, with_widths=False).items():
            alike.setdefault(key, []).append(node)
        return alike

    def _count_alike(self, *, with_attributes: bool, with_widths: bool) -> Counter[object]:
        told = self._tell_apart(with_attributes=with_attributes, with_widths=with_widths)
        return Counter(told.values())

    def _tell_apart(self, *, with_attributes: bool, with_widths: bool) -> dict[Node, int]:
        known: dict[Node, int] = {}
        for node in self.nodes:
            operands: list[object] = []
            for value in _list_operands(node):
                source = self._find_source(value)
                producer = source.producer if source is not None else None
                if source is None:
                    operands.append(None)
                elif producer in self._inside and producer is not None:
                    operands.append(known.get(producer, 0))
                elif is_input_independent(source):
                    operands.append(_read_dims(source) if with_widths else "stored")
                else:
                    operands.append("outside")
            if node.operator.has(*_COMMUTING):
                # of joined values there may be more from layer to layer
                operands = sorted({*operands} if node.operator.has("joins") else operands, key=repr)
            told = _tell_attributes(node, with_widths=with_widths) if with_attributes else ()
            known[node] = hash((node.op_type, told, *operands))
        return known

    def list_of_two_streams(self) -> tuple[Node, ...]:
        """Return the products whose first two operands depend on no one value around the member.

        Those of attention to another stream are such.
        """
        masks: dict[Value, int] = {}
        known: dict[Node, int] = {}
        found = []
        for node in self.nodes:
            taken = [self._find_mask(value, known, masks) for value in _list_operands(node)]
            known[node] = reduce(or_, taken, 0)
            if len(masks) > _MOST_VALUES:
                return ()
            if node.operator.has("multiplies", "attends") and len(taken) > 1:
                first, second = taken[:2]
                if first and second and not first & second:
                    found.append(node)
        return tuple(found)

    def _find_mask(
        self, value: Value | None, known: Mapping[Node, int], masks: dict[Value, int]
    ) -> int:
        """Return on which values around the member one depends, a bit for each."""
        source = self._find_source(value)
        if source is None or is_input_independent(source):
            return 0
        if source.producer in self._inside and source.producer is not None:
            return known.get(source.producer, 0)
        return masks.setdefault(source, 1 << len(masks))

    def tell_operands(self, node: Node) -> list[str]:
        """Return from where a node has its operands: from inside, stored, or from outside."""
        told = []
        for value in _list_operands(node):
            source = self._find_source(value)
            if source is None or source.producer in self._inside:
                told.append("inside")
            else:
                told.append("stored" if is_input_independent(source) else "outside")
        return sorted(told) if node.operator.has(*_COMMUTING) else told

    def list_taken(self) -> set[Value]:
        """Return the values around the member that it takes, stored ones left out."""
        operands = (value for node in self.nodes for value in _list_operands(node))
        sources = {*map(self._find_source, operands)}
        return {
            source
            for source in sources
            if source is not None
            and source.producer not in self._inside
            and not is_input_independent(source)
        }

    def list_joined(self, taken: Container[Value]) -> set[Value]:
        """Return which of some values around the member it puts beside others."""
        return {
            source
            for node in self.nodes
            if node.operator.has("joins")
            for value in _list_operands(node)
            if (source := self._find_source(value)) is not None and source in taken
        }

    def _find_source(self, value: Value | None) -> Value | None:
        """Return what a value was before nodes that only hand it on."""
        if value is None:
            return None
        known = self._sources.get(value)
        if known is None:
            known = find_source(value, *_HANDING) or value
            guarded = find_guarded(known.producer)
            if guarded is not None:
                known = find_source(guarded, *_HANDING) or guarded
            self._sources[value] = known
        return known


def _list_operands(node: Node) -> list[Value | None]:
    """Return what a node takes, but for what tells sizes, places or axes."""
    return [
        value
        for place, value in enumerate(node.inputs)
        if place >= _MOST_ARRANGING or not node.operator.arranges(place)
    ]


def _computes(node: Node) -> bool:
    """Return whether a node computes with data, and does more than to hand it on."""
    operator = node.operator
    if operator.has(*_HANDING, "reads_shape") or is_guard(node):
        return False
    results = [value for value in node.outputs if value is not None]
    return not (results and is_input_independent(results[0]))


def _tell_attributes(node: Node, *, with_widths: bool) -> tuple[object, ...]:
    """Return the attributes of a node that tell how it computes; of groups whether there are any.

    How many groups or hidden features there are is a width.
    """
    given = node.attributes
    told: list[object] = [(name, given[name].value) for name in _TELLING if name in given]
    if "group" in given:
        group = read_int(node, "group")
        told.append(group if with_widths else group != 1)
    if with_widths and "hidden_size" in given:
        told.append(read_int(node, "hidden_size"))
    return tuple(told)


def _read_dims(value: Value) -> object:
    """Return the sizes of what is stored; of what is computed of that, as far as they are known."""
    if value.initializer is not None:
        return value.initializer.dims
    return find_value_facts(value.graph.model).find_dims(value)


def read_ends(nodes: Sequence[Node]) -> tuple[int | None, int | None]:
    """Return how many features the first node with a weight takes, and the last one gives."""
    spans = [*filter(None, map(_read_span, nodes))]
    return (spans[0][0], spans[-1][1]) if spans else (None, None)


def _read_span(node: Node) -> tuple[int | None, int | None] | None:
    """Return how many features a node with a weight takes and gives; None where it has none."""
    operator = node.operator
    weight = find_weight(node) if operator.weight_kind != "normalization" else None
    if weight is not None and weight.features is not None:
        return weight.features
    if not operator.has("multiplies"):
        return None
    taken = [value for value in node.inputs if value is not None]
    streams = [value for value in taken if not is_input_independent(value)]
    if len(taken) != _PAIR or len(streams) != 1:
        return None
    facts = find_value_facts(node.graph.model)
    ends = (facts.find_dims(streams[0]), facts.find_dims(node.output(0)))
    taken_size, given_size = (dims[-1] if dims else None for dims in ends)
    return (
        taken_size if isinstance(taken_size, int) else None,
        given_size if isinstance(given_size, int) else None,
    )
