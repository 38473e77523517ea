"""In what two paired elements differ: nodes, models, and what models take and give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from netloupe.explorer.model import (
    Attribute,
    Graph,
    Model,
    Node,
    SparseTensor,
    SparseTensorType,
    Tensor,
    TensorType,
    Value,
    ValueType,
)
from netloupe.explorer.model.node_keys import key_statement
from netloupe.explorer.model.reading import get_graph_reading
from netloupe.explorer.model.statement import UnreadElements
from netloupe.explorer.model.types import MapType, OptionalType, SequenceType
from netloupe.explorer.operators import VersionDifference, rename_value
from netloupe.explorer.readers.protobuf.statements import digest_elements

from .axes import AXES, are_same_axes
from .caffe2_windows import move_same_way
from .operator_versions import (
    Rewritten,
    align_operands,
    compare_meanings,
    count_others,
    find_silent_default,
    find_version_difference,
    is_stated_as,
    is_successor,
    match_operands,
)
from .resampling import (
    SAMPLING_ATTRIBUTES,
    are_resampling,
    compare_sampling,
    find_unused_roi,
)
from .stated_types import find_type_aspects
from .written_out import SCAN_AXES, have_same_padding, is_written_out, mean_same_scan_axes

#: what may be left out of a comparison: names of nodes and values; texts that only people read;
#: how and where tensors are stored, also attributes of which another version of the operator makes
#: operands; attributes that state what holds without them, or the same in other words; the order of
#: nodes
Ignored = Literal["names", "docs", "storage", "defaults", "order"]
IGNORABLE: tuple[Ignored, ...] = ("names", "docs", "storage", "defaults", "order")


class Change(NamedTuple):
    """One thing that is not the same in two paired elements.

    Parameters
    ----------
    what
        Such as ``"operator"``, ``"attribute axis"``, ``"name"`` or ``"dims"``.
    left, right
        What it is on each side; None for nothing.
    aspect
        What it belongs to of ``names, docs, storage, defaults, order``; "" where it cannot be
        ignored.
    """

    what: str
    left: object
    right: object
    aspect: Ignored | Literal[""] = ""


def have_same_elements(left: Tensor, right: Tensor) -> bool | None:
    """Return whether two tensors hold the same, told by their bits; None where nobody can read it.

    Neither a place that both state tells that, nor that both cannot be read. What is stored
    nowhere, as what is filled at random, is the same.
    """
    one, other = digest_elements(left), digest_elements(right)
    if isinstance(one, UnreadElements) or isinstance(other, UnreadElements):
        return None
    return one == other


def compare_nodes(
    left: Node, right: Node, *, is_said_same: bool, calls_same: bool
) -> Iterator[Change]:
    """Yield in what two paired nodes differ, their operands and the graphs in them aside.

    Parameters
    ----------
    left, right
        The nodes.
    is_said_same
        What :func:`says_same` answers of them.
    calls_same
        Whether the functions that they call are compared with each other.
    """
    if left.name != right.name:
        yield Change("name", left.name, right.name, "names")
    operators = _name_operator(left), _name_operator(right)
    if operators[0] != operators[1]:
        is_renamed = left.function is not None and calls_same
        aspect: Ignored | Literal[""] = "names" if is_renamed else ""
        if is_successor(left, right):  # in what they differ otherwise is told below
            aspect = "defaults"
        yield Change("operator", operators[0], operators[1], aspect)
    elif not calls_same and left.overload == right.overload:
        paths = [None if one.function is None else one.function.path for one in (left, right)]
        yield Change("function", paths[0], paths[1])
    versions = find_version_difference(left, right)
    rewritten = [] if versions is None else [*match_operands(versions, left, right)]
    told = {entry.attribute for entry in rewritten}
    if are_resampling(left, right):
        told |= SAMPLING_ATTRIBUTES
        yield from _compare_sampling(left, right)
    if not is_said_same:
        yield from compare_attributes(left, right, told)
    if versions is not None:
        for what, one, other in compare_meanings(versions, left, right):
            if what.removeprefix("default of attribute ") not in told:
                yield Change(what, one, other)
    yield from _compare_counts(left, right, versions, rewritten)
    for place, (first, second) in enumerate(zip(left.outputs, right.outputs, strict=False)):
        if first is None or second is None:
            continue
        before, after = first.type, second.type
        if before is not None and after is not None and find_type_aspects(before, after):
            aspect = _find_type_aspect(before, after)
            if not aspect or not _is_told_of_model(first, second):
                yield Change(f"type of output {place}", str(before), str(after), aspect)
        if first.name != second.name:
            yield Change(f"name of output {place}", first.name, second.name, "names")
    if is_said_same:  # so are these: details of nodes are not read for them
        return
    if left.doc != right.doc:
        yield Change("documentation", left.doc, right.doc, "docs")
    if left.metadata != right.metadata:
        yield Change("metadata", None, None, "docs")


def _compare_sampling(left: Node, right: Node) -> Iterator[Change]:
    """Yield what differs in where Upsample and Resize sample, and in regions that none reads."""
    for name, one, other, is_same in compare_sampling(left, right):
        is_stated = name in left.attributes or name in right.attributes
        what = f"attribute {name}" if is_stated else f"default of attribute {name}"
        yield Change(what, one, other, "defaults" if is_same else "")
    regions = [find_unused_roi(node) for node in (left, right)]
    if (regions[0] is None) != (regions[1] is None):
        one, other = (None if value is None else value.path for value in regions)
        yield Change("region that is not read", one, other, "defaults")


def _compare_counts(
    left: Node,
    right: Node,
    versions: VersionDifference | None,
    rewritten: list[Rewritten],
) -> Iterator[Change]:
    """Yield numbers of operands that differ, and attributes that are operands of the other."""
    aligned = align_operands(left, right)
    is_other = left.op_type != right.op_type  # an operator on integers takes scales in between
    one, other = (len(side) for side in (aligned if is_other else (left.inputs, right.inputs)))
    places: tuple[set[int], set[int]] = (set(), set())
    for entry in rewritten:
        places[entry.is_left].add(entry.place)
        is_stored = entry.is_same and entry.operand is not None
        aspect: Ignored | Literal[""] = "storage" if is_stored else "defaults"
        yield Change(
            f"attribute {entry.attribute}", entry.left, entry.right, aspect if entry.is_same else ""
        )
    if one != other and _count_given(left.inputs) == _count_given(right.inputs):
        yield Change("number of inputs", one, other, "defaults")  # others are left out in words
    elif one != other:
        is_told = versions is not None or are_resampling(left, right)
        if is_told:
            is_told = count_others(aligned[0], places[0]) == count_others(aligned[1], places[1])
        yield Change("number of inputs", one, other, "storage" if is_told else "")
    if len(left.outputs) != len(right.outputs):
        is_same = _count_given(left.outputs) == _count_given(right.outputs)
        aspect = "defaults" if is_same else ""
        yield Change("number of outputs", len(left.outputs), len(right.outputs), aspect)


def _count_given(values: Sequence[Value | None]) -> int:
    """Return how many operands or results there are, without those left out at the end."""
    return max((place for place, value in enumerate(values, 1) if value is not None), default=0)


def _is_told_of_model(left: Value, right: Value) -> bool:
    """Return whether both are one output of the models, of which another type is told as such."""
    graphs = left.graph, right.graph
    is_given = left.is_output and right.is_output and left.name == right.name
    is_main = graphs[0].kind == graphs[1].kind == "main"
    return is_given and is_main and graphs[0].dialect is graphs[1].dialect


def _find_type_aspect(left: ValueType, right: ValueType) -> Ignored | Literal[""]:
    found = find_type_aspects(left, right)
    if not found or "" in found:
        return ""
    return "defaults" if "defaults" in found else "names"


def _name_operator(node: Node) -> str:
    is_own = node.domain == node.graph.dialect.domain
    return node.op_type if is_own else f"{node.domain}::{node.op_type}"


def compare_attributes(left: Node, right: Node, told: set[str]) -> Iterator[Change]:
    """Yield attributes that differ, but those told elsewhere: they are operands of the other."""
    first, second = left.attributes, right.attributes
    for name in dict.fromkeys((*first, *second)):
        one, other = first.get(name), second.get(name)
        if name in told:
            continue
        if one is not None and other is not None:
            if _have_same_value(one, other):
                continue
            values = one.value, other.value
            is_same = _mean_same(left, right, name, *values)
            is_same = is_same or (
                _holds_anyway(left, right, name, values[1])
                and _holds_anyway(left, left, name, values[0])
            )
            is_same = is_same or move_same_way(left, right, name)
            is_same = is_same and one.reference == other.reference
        else:
            silent, stated = (right, one) if other is None else (left, other)
            stating = left if silent is right else right
            assert stated is not None  # noqa: S101 - one of both has it
            values = (stated.value, None) if other is None else (None, stated.value)
            is_same = _holds_anyway(silent, stating, name, stated.value)
            is_same = is_same or _pads_same(left, right, name) or move_same_way(left, right, name)
            is_same = is_same and not stated.reference
        yield Change(f"attribute {name}", *values, "defaults" if is_same else "")


def _holds_anyway(silent: Node, stating: Node, name: str, value: object) -> bool:
    """Return whether what one node states holds for the other one without a word."""
    default = find_silent_default(silent, stating, name)
    is_default = default is not None and (
        is_stated_as(stating, name, value, default)
        or _mean_same(silent, stating, name, value, default)
    )
    return is_default or is_written_out(silent, stating, name, value)


def _mean_same(left: Node, right: Node, name: str, one: object, other: object) -> bool:
    """Return whether two values of an attribute say the same in other words."""
    if name in AXES and left.op_type == right.op_type:
        return are_same_axes(left, right, one, other)
    if name in SCAN_AXES and left.op_type == right.op_type:
        return mean_same_scan_axes(left, right, name, one, other)
    if _pads_same(left, right, name):
        return True
    renamed = [rename_value(left.op_type, name, value) for value in (one, other)]
    return isinstance(one, str) and renamed[0] == renamed[1]


def _pads_same(left: Node, right: Node, name: str) -> bool:
    return name in ("auto_pad", "pads") and have_same_padding(left, right)


def says_same(left: Node, right: Node) -> bool:
    """Return whether files of one format say the same of two nodes, told by bytes, which is fast.

    That is all but their names, the names of their operands, and what graphs around them say.

    Bytes that are equal may still name other files for the elements of tensors (``location`` of
    ONNX); where nodes have fields beside attributes all is read in full.
    """
    dialect = left.graph.dialect
    if left.subgraphs or right.subgraphs or dialect.node_fields or right.graph.dialect != dialect:
        return False
    key = key_statement(left)
    return key == key_statement(right) and b"location" not in key


def says_same_tensor(one: tuple[Graph, int], other: tuple[Graph, int]) -> bool:
    """Return whether two files say the same of initializers, with their names and elements.

    It is told by bytes, which is fast; each is a graph and the place of an initializer in it.
    Where not all is stored in the tensor itself all is read in full.
    """
    finders = get_graph_reading(one[0]).loader, get_graph_reading(other[0]).loader
    if finders[0] is None or finders[1] is None or one[0].dialect is not other[0].dialect:
        return False
    key = finders[0].key_tensor(one[1])
    return key is not None and key == finders[1].key_tensor(other[1])


def _have_same_value(one: Attribute, other: Attribute) -> bool:
    if isinstance(one.value, Graph) or isinstance(other.value, Graph):
        return isinstance(one.value, Graph) and isinstance(other.value, Graph)  # compared apart
    if isinstance(one.value, Tensor) and isinstance(other.value, Tensor):
        same = one.value.dims == other.value.dims and one.value.dtype == other.value.dtype
        # what cannot be read is told of all that is stated
        return same and have_same_elements(one.value, other.value) is not False
    if isinstance(one.value, tuple) and isinstance(other.value, tuple):
        kinds = (Graph, Tensor, SparseTensor)
        if any(isinstance(entry, kinds) for entry in (*one.value, *other.value)):
            return len(one.value) == len(other.value)
    return (one.kind, one.reference, repr(one.value)) == (
        other.kind,
        other.reference,
        repr(other.value),
    )


def compare_statements(left: Model, right: Model) -> Iterator[Change]:
    """Yield in what differs what two models say of themselves."""
    if left.dialect is not right.dialect:
        yield Change("format", left.format, right.format)
    one, other = left.header, right.header
    stated: list[tuple[str, object, object, Ignored | Literal[""]]] = [
        ("IR version", one.ir_version, other.ir_version, ""),
        ("producer", one.producer_name, other.producer_name, "docs"),
        ("producer version", one.producer_version, other.producer_version, "docs"),
        ("domain", one.domain, other.domain, "docs"),
        ("model version", one.model_version, other.model_version, "docs"),
        ("documentation", one.doc, other.doc, "docs"),
        ("name of the graph", left.graph.name, right.graph.name, "names"),
    ]
    for what, before, after, aspect in stated:
        if before != after:
            yield Change(what, before, after, aspect)
    first, second = (model.dialect.name_opsets(model.opset_imports) for model in (left, right))
    yield from _compare_entries("opset of", first, second, "")
    yield from _compare_entries("metadata", left.metadata, right.metadata, "docs")


def _compare_entries(
    what: str,
    left: Mapping[str, object],
    right: Mapping[str, object],
    aspect: Ignored | Literal[""],
) -> Iterator[Change]:
    for key in dict.fromkeys((*left, *right)):
        if left.get(key) != right.get(key):
            yield Change(f"{what} {key}", left.get(key), right.get(key), aspect)


def compare_interfaces(left: Graph, right: Graph) -> Iterator[Change]:
    """Yield what a program notices that gives one model where it gave the other."""
    for kind, one, other in (
        ("input", _list_given(left), _list_given(right)),
        ("output", {v.name: v for v in left.outputs}, {v.name: v for v in right.outputs}),
    ):
        for name in dict.fromkeys((*one, *other)):
            first, second = one.get(name), other.get(name)
            if first is None or second is None:
                if kind == "output" and first is None:
                    continue  # who does not ask for it does not notice
                before, after = (None if v is None else _name_type(v) for v in (first, second))
                yield Change(f"{kind} {name}", before, after)
            elif not (_holds(first, second) if kind == "output" else _holds(second, first)):
                yield Change(f"{kind} {name}", _name_type(first), _name_type(second))


def have_same_ends(left: Graph, right: Graph) -> bool:
    """Return whether two graphs take and give values of the same names and types, in one order."""
    for lefts, rights in (
        ([*_list_given(left).values()], [*_list_given(right).values()]),
        (left.outputs, right.outputs),
    ):
        if [value.name for value in lefts] != [value.name for value in rights]:
            return False
        if any(find_type_aspects(a.type, b.type) for a, b in zip(lefts, rights, strict=True)):
            return False
    return True


def _name_type(value: Value) -> str:
    return str(value.type or "no type")


def _list_given(graph: Graph) -> dict[str, Value]:
    return {value.name: value for value in graph.inputs if value.initializer is None}


def _holds(wanted: Value, given: Value) -> bool:
    """Return whether what has one type can be given where another is wanted.

    For inputs the right model wants and programs give what the left one took; for outputs it is
    the other way round. An axis without a number takes any.
    """
    return wanted.type is None or given.type is None or _takes(wanted.type, given.type)


def _takes(wanted: ValueType, given: ValueType) -> bool:
    if isinstance(wanted, TensorType | SparseTensorType):
        if type(wanted) is not type(given) or wanted.dtype != given.dtype:
            return False
        if wanted.shape is None or given.shape is None:
            return wanted.shape is None
        return len(wanted.shape) == len(given.shape) and all(
            not isinstance(a.value, int) or a.value == b.value
            for a, b in zip(wanted.shape, given.shape, strict=True)
        )
    if type(wanted) is not type(given):
        return False
    if isinstance(wanted, MapType) and isinstance(given, MapType):
        return wanted.key == given.key and _take_inside(wanted.value, given.value)
    kinds = SequenceType | OptionalType
    if isinstance(wanted, kinds) and isinstance(given, kinds):
        return _take_inside(wanted.element, given.element)
    return str(wanted) == str(given)


def _take_inside(wanted: ValueType | None, given: ValueType | None) -> bool:
    """Return the same of what is inside of types; one that is not stated may be any."""
    return wanted is None or given is None or _takes(wanted, given)
