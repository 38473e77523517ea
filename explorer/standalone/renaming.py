"""RepetitionComparer that are the same but for names: what is called how in another one.

What a page says of one repetition of a stack it says of the next in other names, where nothing
else differs. Whether anything does is looked at here, fact by fact; what cannot be compared
cheaply counts as different, and is then laid out and described by itself.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass, field
from html import escape

from netloupe.explorer.costs import Totals, count_nodes
from netloupe.explorer.describe.compared import (
    describe_group_difference,
    describe_node_difference,
    describe_value_difference,
    name_older_place,
)
from netloupe.explorer.describe.graphs import write_repetition
from netloupe.explorer.describe.nodes import write_position
from netloupe.explorer.describe.uses import is_one_of_many, write_formal_name
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.grouping import Group, list_nodes_inside
from netloupe.explorer.model import Node, Tensor, Value, constant_tensor
from netloupe.explorer.model.node_keys import key_statement, tell_oddities
from netloupe.explorer.model.operand_places import find_places
from netloupe.explorer.model.value import has_notes
from netloupe.explorer.quantization import find_quantization
from netloupe.explorer.render.text import clean_label
from netloupe.explorer.view import NO_OPERAND_KINDS, OperandKinds, nodes_inside

#: a longer name may be shortened where it stands
_LONGEST = 100
#: what most names consist of: neither white space nor what HTML has a meaning for
_SURELY_PLAIN = re.compile(r"[!#-%(-;=?-~]{0,100}")
#: elements of tensors that no node's description, face or cost depends on when there are more:
#: sizes, axes and indices; and numbers, of which layers have own ones
_MOST_INTEGERS, _MOST_NUMBERS = 64, 16


@dataclass(slots=True, eq=False)
class Renaming:
    """What the elements of one repetition are called in another.

    Parameters
    ----------
    texts
        By each name and path in the first repetition, and of what it is joined to, the one that
        stands in its place in the other.
    paths
        The paths among them of what is inside: nodes, values, groups.
    own
        By the path of an element in the first repetition what is said of it alone, such as its
        position: by each such text that of the other.
    weights
        By the path of a constant in the first repetition, of the node that gives it and of its
        elements, the elements in the other, and the value that they are where that is described
        with them.
    """

    texts: dict[str, str] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    own: dict[str, dict[str, str]] = field(default_factory=dict)
    weights: dict[str, tuple[Tensor, Value | None]] = field(default_factory=dict)

    def rename(self, text: str) -> str:
        """Return a name or path as it is in the other repetition."""
        return self.texts.get(text, text)

    def join(self, other: Renaming) -> Renaming | None:
        """Return what the names of this repetition are in another one that is like the same first.

        Of names alone; None where one name here is several there.
        """
        texts: dict[str, str] = {}
        for text, name in self.texts.items():
            there = other.texts.get(text)
            if there is None or texts.setdefault(name, there) != there:
                return None
        return Renaming(texts)


class _Unlike(Exception):  # noqa: N818 - no error: it ends a comparison
    """Two repetitions differ in more than names."""


def compare_repetitions(
    first: Group | Node, other: Group | Node, operand_kinds: OperandKinds = NO_OPERAND_KINDS
) -> Renaming | None:
    """Return what a repetition's elements are called in another; None where they differ.

    Parameters
    ----------
    first, other
        Two repetitions of one repeat.
    operand_kinds
        How some nodes take some values, as :class:`~netloupe.explorer.view.View` has it.
    """
    comparison = _Comparison(operand_kinds)
    try:
        comparison.compare(first, other)
    except (_Unlike, NetloupeError):
        return None
    return comparison.renaming


def is_comparable(repetition: Group | Node) -> bool:
    """Return whether what is said of a repetition's nodes follows from what is compared.

    Bodies of graphs and functions, quantization and what is odd are not compared.
    """
    nodes = list_nodes_inside([repetition])
    values = {value for node in nodes for value in (*node.inputs, *node.outputs) if value}
    try:
        return not (
            any(node.subgraphs or node.captures or node.control_inputs for node in nodes)
            or any(node.function is not None or node.warnings for node in nodes)
            or any(find_quantization(value) is not None for value in values)
        )
    except NetloupeError:
        return False


def write_signature(repetition: Group | Node) -> Hashable:
    """Return what is the same of repetitions that are alike, and told apart at once."""
    return tuple(
        (node.op_type, node.domain, *map(_sign_type, (*node.inputs, *node.outputs)))
        for node in list_nodes_inside([repetition])
    )


def _sign_type(value: Value | None) -> Hashable:
    return value and (value.type, value.inferred_type)


class _Comparison:
    def __init__(self, operand_kinds: OperandKinds) -> None:
        self.renaming = Renaming()
        self._operand_kinds = operand_kinds
        self._nodes: dict[Node, Node] = {}
        self._others: set[Node] = set()
        self._values: dict[Value, Value] = {}

    def compare(self, first: Group | Node, other: Group | Node) -> None:
        """Compare all that is in two repetitions; raise where it differs."""
        _demand(_count(first) == _count(other))
        if isinstance(first, Group) and isinstance(other, Group):
            self._add_own(first.path, write_repetition(first), write_repetition(other))
        pending: list[tuple[Group | Node, Group | Node]] = [(first, other)]
        while pending:
            a, b = pending.pop()
            if isinstance(a, Group) and isinstance(b, Group):
                self._compare_groups(a, b)
                pending.extend(zip(a.children, b.children, strict=True))
            elif isinstance(a, Node) and isinstance(b, Node):
                self._nodes[a] = b
                self._others.add(b)
            else:
                raise _Unlike
        for a, b in self._nodes.items():
            self._compare_nodes(a, b)
        texts = self.renaming.texts
        for own in self.renaming.own.values():
            # what is a name too may be told where the name is meant
            _demand(all(texts.get(text, told) == told for text, told in own.items()))

    def _compare_groups(self, a: Group, b: Group) -> None:
        _demand(a.kind == b.kind and a.type_name == b.type_name)
        _demand(len(a.children) == len(b.children) and a.node_count == b.node_count)
        _demand(a.exemplar == b.exemplar and a.facts == b.facts)
        _demand(a.stand_in is None and b.stand_in is None)
        one, two = a.recognised, b.recognised
        if one is not None and two is not None:
            _demand((one.name, one.family, one.facts) == (two.name, two.family, two.facts))
        else:
            _demand(one is two)
        _demand(describe_group_difference(a) == describe_group_difference(b))
        self._add(a.path, b.path)
        self._add(a.label, b.label)
        self.renaming.paths.append(a.path)

    def _compare_nodes(self, a: Node, b: Node) -> None:
        _demand((a.op_type, a.domain, a.overload) == (b.op_type, b.domain, b.overload))
        _demand(len(a.inputs) == len(b.inputs) and len(a.outputs) == len(b.outputs))
        _demand(not (b.subgraphs or b.captures or b.control_inputs or tell_oddities(b)))
        _demand(key_statement(a) == key_statement(b))
        _demand_no_warnings(a, b)
        self._compare_differences(a, b)
        self._add_node(a, b)
        self.renaming.paths.append(a.path)
        self._add_own(a.path, write_position(a), write_position(b))
        for one, two in zip(a.inputs, b.inputs, strict=True):
            self._compare_operands(one, two)
        for one, two in zip(a.outputs, b.outputs, strict=True):
            self._compare_operands(one, two)

    def _compare_differences(self, a: Node, b: Node) -> None:
        """Compare what is told of nodes that were compared with those of another model."""
        told = self._operand_kinds
        _demand(_list_kinds(a, told) == _list_kinds(b, told))
        one, two = describe_node_difference(a), describe_node_difference(b)
        if one is None or two is None:
            _demand(one is two)
            return
        _demand(len(one.rows) == len(two.rows))
        place = name_older_place(a.graph.model)
        for row, other in zip(one.rows, two.rows, strict=True):
            if row.name == other.name == place:
                self._add(row.value, other.value)
            else:
                _demand(row == other)

    def _compare_operands(self, a: Value | None, b: Value | None) -> None:
        if a is None or b is None:
            _demand(a is b)
            return
        known = self._values.get(a)
        if known is None:
            self._values[a] = b
            self._compare_values(a, b)
        else:
            _demand(known is b)

    def _compare_values(self, a: Value, b: Value) -> None:
        paths = a.path, b.path
        self._add(a.key, b.key)
        self._add(a.name, b.name)
        self._add(*paths)
        if a is b:
            return
        _demand((a.key == a.name) == (b.key == b.name))
        _demand(_is_same(a.type, b.type) and _is_same(a.inferred_type, b.inferred_type))
        _demand(a.output_index == b.output_index and a.is_parameter == b.is_parameter)
        _demand(a.is_input == b.is_input and a.is_output == b.is_output)
        for value, path in zip((a, b), paths, strict=True):
            _demand_no_notes(value)
            _demand(not value.graph.model.warnings_at(path))
        _demand_equal_constants(a, b)
        giver, other = a.producer, b.producer
        is_constant = False
        if giver is None or other is None:
            _demand(giver is other)
        elif giver in self._nodes:
            _demand(self._nodes[giver] is other)
        else:
            _demand(other not in self._others and giver.op_type == other.op_type)
            self._add_node(giver, other)
            is_constant = len(giver.outputs) == len(other.outputs) == 1 and not (
                giver.inputs or other.inputs or giver.subgraphs or other.subgraphs
            )
            if is_constant:
                _demand(key_statement(giver) == key_statement(other))
        if self._is_inside(a, b, is_constant=is_constant):
            self.renaming.paths.append(paths[0])
            _demand(not a.unknown_fields and not b.unknown_fields)
            if is_constant and giver is not None and other is not None:
                self.renaming.paths.append(giver.path)
                self._add_own(giver.path, write_position(giver), write_position(other))
                _demand_no_warnings(giver, other)
            self._note_weight(a, b)

    def _note_weight(self, a: Value, b: Value) -> None:
        """Note what the elements of a constant are in the other repetition."""
        _demand(describe_value_difference(a) == describe_value_difference(b))
        one, two = constant_tensor(a), constant_tensor(b)
        if not isinstance(one, Tensor) or not isinstance(two, Tensor):
            _demand(one is two)
            return
        weights = self.renaming.weights
        weights[a.path] = two, b
        if a.producer is not None:
            weights[a.producer.path] = two, b
        self._add(one.path, two.path)
        self._add(_end_of(one.path), _end_of(two.path))
        if one.path not in weights:
            self.renaming.paths.append(one.path)
            weights[one.path] = two, None

    def _is_inside(self, a: Value, b: Value, *, is_constant: bool) -> bool:
        """Return whether a value belongs to its repetition; compare who uses it then.

        That is what is given inside, and constants that are used nowhere else.
        """
        if a.producer not in self._nodes:
            if not is_constant and a.initializer is None:
                return False
            is_inside = all(user in self._nodes for user in a.users)
            _demand(is_inside == all(user in self._others for user in b.users))
            if not is_inside:
                return False
        _demand(len(a.users) == len(b.users))
        for one, two in zip(a.users, b.users, strict=True):
            if one in self._nodes:
                _demand(self._nodes[one] is two)
                _demand(find_places(one, a) == find_places(two, b))
            else:
                _demand(two not in self._others)
                _demand((one.op_type, one.domain) == (two.op_type, two.domain))
                _demand(one.function is None and two.function is None)
                self._compare_places(a, one, b, two)
                self._add_node(one, two)
        return True

    def _compare_places(self, a: Value, user: Node, b: Value, other: Node) -> None:
        """Compare at which places two values are taken outside of their repetitions.

        Of many operands that all mean the same, as those of a Concat, each has another place.
        """
        places, others = find_places(user, a), find_places(other, b)
        _demand(len(places) == len(others))
        for one, two in zip(places, others, strict=True):
            if is_one_of_many(user, one) and is_one_of_many(other, two):
                names = (
                    write_formal_name(user, one, is_output=False),
                    write_formal_name(other, two, is_output=False),
                )
                self._add_own(a.path, *names)
            else:
                _demand(one == two)

    def _add_node(self, a: Node, b: Node) -> None:
        self._add(a.path, b.path)
        self._add(a.label, b.label)

    def _add_own(self, path: str, a: str, b: str) -> None:
        """Note what is said of an element of the first repetition alone, and of the other one."""
        _demand(self.renaming.own.setdefault(path, {}).setdefault(a, b) == b)

    def _add(self, a: str, b: str) -> None:
        """Note what a text of the first repetition is in the other; it can be one alone."""
        texts = self.renaming.texts
        if a in texts:
            _demand(texts[a] == b)
            return
        if a != b:
            _demand(_is_plain(a) and _is_plain(b))
        texts[a] = b


def _count(repetition: Group | Node) -> Totals:
    nodes = [repetition] if isinstance(repetition, Node) else nodes_inside(repetition)
    return count_nodes(repetition.graph.model, nodes)


def _list_kinds(node: Node, operand_kinds: OperandKinds) -> list[str | None]:
    """Return of each operand of a node whether one of two models alone takes it there."""
    told = operand_kinds.get(node, {})
    before, now = node.graph.model.list_taken(node)
    return [
        None
        if value is None
        else told.get(value) or ("former" if value in before else "newer" if value in now else None)
        for value in node.inputs
    ]


def _end_of(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _demand(holds: bool) -> None:
    if not holds:
        raise _Unlike


def _is_plain(text: str) -> bool:
    """Return whether a text stands everywhere as it is."""
    if _SURELY_PLAIN.fullmatch(text) is not None:
        return True
    return len(text) <= _LONGEST and clean_label(text) == text and escape(text) == text


def _is_same(a: object, b: object) -> bool:
    return a is b or a == b


def _demand_no_warnings(*elements: Node) -> None:
    for element in elements:
        _demand(not element.graph.model.warnings_at(element.path))


def _demand_no_notes(value: Value) -> None:
    """Demand that the file says nothing of a value but its type."""
    _demand(not value.doc and value.annotation is None)
    _demand(not has_notes(value) or not (value.metadata or value.warnings))


def _demand_equal_constants(a: Value, b: Value) -> None:
    """Demand that initializers are alike in all that is told of them where they are used."""
    one, two = a.initializer, b.initializer
    if one is None or two is None:
        _demand(one is two)
        return
    if not isinstance(one, Tensor) or not isinstance(two, Tensor):
        raise _Unlike
    _demand(one.dtype == two.dtype and one.dims == two.dims)
    _demand((one.storage, one.stored_bytes) == (two.storage, two.stored_bytes))
    _demand(not one.warnings and not two.warnings)
    if one.size <= (_MOST_NUMBERS if one.dtype.is_float else _MOST_INTEGERS):
        _demand(one.numpy().tolist() == two.numpy().tolist())
