"""Which values of two models are the same, and in what two statements about them differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from netloupe.explorer.model import Graph, Model, Node, Tensor, Value
from netloupe.explorer.model.statement import (
    SizeName,
    StatedFact,
    Statement,
    UnreadElements,
    ValueName,
    Way,
    list_ways,
)
from netloupe.explorer.progress import step

from .aspects import Aspect, find_aspect, name_field
from .changes import Change
from .stated_types import list_stated_sizes

if TYPE_CHECKING:
    from .matching import Matching
    from .pair import Pair

_STEP = 1_000
#: AttributeProto.AttributeType of onnx.proto: the fields that hold values, by the numbers of types
_FIELDS_OF_TYPES: Mapping[int, str] = {
    1: "f",
    2: "i",
    3: "s",
    4: "t",
    5: "g",
    6: "floats",
    7: "ints",
    8: "strings",
    9: "tensors",
    10: "graphs",
    11: "sparse_tensor",
    12: "sparse_tensors",
    13: "tp",
    14: "type_protos",
}
_VALUE_FIELDS = frozenset(_FIELDS_OF_TYPES.values())


class StatedValues:
    """Compares statements, in which values and sizes that are the same may have other names.

    Parameters
    ----------
    matching
        The pairs.

    Attributes
    ----------
    unjudged
        What could not be looked at, and why.
    places
        Of what is told of the models, by what it is, the values and graphs that it is about.
    values, back
        By value of the left model that of the right one which is the same, and the other way.
    paired
        The nodes of pairs of one node each.
    """

    def __init__(self, matching: Matching) -> None:
        self.unjudged: list[str] = []
        self.places: dict[str, list[Value | Graph]] = {}
        self.values: dict[Value, Value] = {}
        self.back: dict[Value, Value] = {}
        self._matching = matching
        self.dialect = matching.left.dialect
        self._sizes: dict[str, str] = {}
        self._sizes_back: dict[str, str] = {}
        #: at how many places of what graphs take and give a name of a size stands, at most
        self._named_sizes: Counter[str] | None = None
        singles = [p for p in matching.pairs if len(p.left) == len(p.right) == 1]
        self.paired: set[Node] = {node for p in singles for node in (p.left[0], p.right[0])}
        self._pair_values(singles)

    def _pair_values(self, singles: Sequence[Pair]) -> None:
        for left, right in self._matching.graphs:
            for one, other in pair_ends(left, right, left.inputs, right.inputs):
                if one.initializer is None and other.initializer is None:
                    self.add(one, other)
        for number, pair in enumerate(singles):
            if not number % _STEP:
                step()
            for first, second in zip(pair.left[0].outputs, pair.right[0].outputs, strict=False):
                if first is not None and second is not None:
                    self.add(first, second)
        for one, other in self._matching.values.items():
            if is_stored(one) == is_stored(other):  # results of fused nodes as well
                self.add(one, other)

    def add(self, one: Value, other: Value) -> None:
        """Note that two values are the same, unless either is the same as another one."""
        if one not in self.values and other not in self.back:
            self.values[one] = other
            self.back[other] = one

    def is_explained(self, value: Value) -> bool:
        """Return whether a value comes from a node that is told to be gone or new.

        Or from several nodes that together give more than this value alone.
        """
        node = value.producer
        if node is None or node in self.paired or is_stored(value):
            return False
        return value not in self.values and value not in self.back

    def compare(
        self,
        left: Statement,
        right: Statement,
        one: Value | None = None,
        other: Value | None = None,
        graphs: tuple[Graph, Graph] | None = None,
    ) -> Iterator[Change]:
        """Yield in what two statements differ; names are of the graphs, or of those of values."""
        if graphs is None and one is not None and other is not None:
            graphs = one.graph, other.graph
        for _, change in self.list_differing(left, right, graphs):
            yield change

    def list_differing(
        self, left: Statement, right: Statement, graphs: tuple[Graph, Graph] | None
    ) -> Iterator[tuple[Way, Change]]:
        """Yield the ways on which two statements differ; of what is gone only where it began."""
        gone: set[Way] = set()
        found: dict[tuple[str, bool], tuple[Way, Change]] = {}
        for way in list_ways(left, right):
            one, other = left.get(way), right.get(way)
            if one is None or other is None:
                if any(way[:length] in gone for length in range(1, len(way))):
                    continue
            elif isinstance(one.content, SizeName) and isinstance(other.content, SizeName):
                if self._judge_sizes(one, other) is None:
                    continue
            elif self._is_same(one.content, other.content, graphs) or (
                graphs is not None
                and way == ("external_input",)
                and self._is_same(*self._leave_out_weights(one, other, graphs), graphs)
            ):
                continue
            contents = [fact.content for fact in (one, other) if fact is not None]
            if self.note_unread(contents, [".".join(way)] * 2):
                continue
            aspect = find_aspect(way, one, other, self.dialect)
            if aspect == "" and (one is None or other is None) and self._is_lone_size(one or other):
                aspect = "names" if not _has_number(way, left, right) else ""
            if aspect is None:
                continue
            if aspect == "" and (one is None or other is None or isinstance(one.content, int)):
                gone.add(way)
            if (
                aspect == "names"
                and one is not None
                and other is not None
                and way[-1] == "dim_param"
            ):
                aspect = self._judge_sizes(one, other)
                if aspect is None:
                    continue
            shown = [None if fact is None else fact.shown for fact in (one, other)]
            if way[0] == "opset_import" and len(way) == 2:  # which version is there, or was
                versions = [side.get((*way, "version")) for side in (left, right)]
                shown = [None if fact is None else fact.shown for fact in versions]
            what = name_field(way, self.dialect)
            if _is_beside_type(way, left) or _is_beside_type(way, right):
                what = f"field {way[2]} of {what}"
            change = Change(what, shown[0], shown[1], aspect)
            key = change.what, bool(aspect)
            found.setdefault(key, (way, change))
        yield from found.values()

    def _is_lone_size(self, fact: StatedFact | None) -> bool:
        """Return whether a fact is the name of a size that stands at one place of what is given.

        Such a name says no more than that the size is not known. Where it stands at several, as of
        an input and an output, these are as long as one another.
        """
        if fact is None or not isinstance(fact.content, SizeName):
            return False
        if self._named_sizes is None:
            left, right = self._matching.left, self._matching.right
            self._named_sizes = _count_sizes(left) | _count_sizes(right)  # the larger counts
        return self._named_sizes[fact.content.name] <= 1

    def _judge_sizes(self, one: object, other: object) -> Aspect | None:
        """Return whether sizes that are not known are only called otherwise, or are others."""
        first, second = getattr(one, "content", None), getattr(other, "content", None)
        if not isinstance(first, SizeName) or not isinstance(second, SizeName):
            return ""
        known = self._sizes.setdefault(first.name, second.name)
        back = self._sizes_back.setdefault(second.name, first.name)
        if known != second.name or back != first.name:
            return ""
        return None if first.name == second.name else "names"

    def _is_same(self, one: object, other: object, graphs: tuple[Graph, Graph] | None) -> bool:
        if isinstance(one, UnreadElements) or isinstance(other, UnreadElements):
            return False
        if (
            isinstance(one, tuple)
            and isinstance(other, tuple)
            and one
            and not isinstance(one, ValueName)
        ):
            if isinstance(one[0], ValueName):
                return len(one) == len(other) and all(
                    self._is_same(*pair, graphs) for pair in zip(one, other, strict=True)
                )
            return bool(one == other)
        if graphs is not None and isinstance(one, ValueName) and isinstance(other, ValueName):
            first, second = graphs[0].values.get(one.name), graphs[1].values.get(other.name)
            if first is not None and second is not None:
                known = self.values.get(first)
                return known is second or (known is None and one == other)
        return bool(one == other)

    def _leave_out_weights(
        self, one: StatedFact, other: StatedFact, graphs: tuple[Graph, Graph]
    ) -> tuple[tuple[object, ...], tuple[object, ...]]:
        """Return what two nets list as taken without the weights of which nothing is to be told.

        That are those in no pair, which are told as added or removed; and pairs that both list, in
        whatever order, since they are known by their names.
        """
        names = [fact.content if isinstance(fact.content, tuple) else () for fact in (one, other)]
        stored = [
            {
                name: value.initializer
                for name in listed
                if isinstance(name, ValueName)
                and (value := graph.values.get(name.name)) is not None
                and isinstance(value.initializer, Tensor)
            }
            for listed, graph in zip(names, graphs, strict=True)
        ]
        pairs = self._matching.tensors
        partners = [pairs, {right: left for left, right in pairs.items()}]

        def list_rest(side: int) -> tuple[object, ...]:
            others = {*stored[1 - side].values()}
            told = {
                name
                for name, tensor in stored[side].items()
                if tensor not in partners[side] or partners[side][tensor] in others
            }
            return tuple(name for name in names[side] if name not in told)

        return list_rest(0), list_rest(1)

    def note_unread(self, contents: Sequence[object], paths: Sequence[str]) -> bool:
        """Note what of some contents could not be read; return whether anything."""
        found = [
            f"{path}: {content.reason}"
            for path, content in zip(paths, contents, strict=False)
            if isinstance(content, UnreadElements)
        ]
        self.unjudged += found
        return bool(found)


def _has_number(way: Way, left: Statement, right: Statement) -> bool:
    """Return whether either side has a number where the way leads to the name of a size."""
    number = (*way[:-1], "dim_value")
    return number in left or number in right


def _count_sizes(model: Model) -> Counter[str]:
    """Return at how many places of what graphs take and give each name of a size stands."""
    ends = (value for graph in model.graphs for value in (*graph.inputs, *graph.outputs))
    sizes = (size for value in ends for size in list_stated_sizes(value.type))
    return Counter(size.value for size in sizes if isinstance(size.value, str))


def _is_beside_type(way: Way, statement: Statement) -> bool:
    """Return whether an attribute of ONNX gives a value in another field than that of its type."""
    if len(way) < 3 or way[0] not in ("attribute", "attribute_proto") or way not in statement:
        return False
    kind = statement.get((*way[:2], "type"))
    field = _FIELDS_OF_TYPES.get(kind.content) if kind and isinstance(kind.content, int) else None
    return way[2] in _VALUE_FIELDS and field is not None and field != way[2]


def is_stored(value: Value) -> bool:
    """Return whether a value is stored: as an initializer, or in a node without operands."""
    if value.initializer is not None:
        return True
    node = value.producer
    return node is not None and not node.inputs and node.operator.has("stores_constant")


def pair_ends(
    left: Graph, right: Graph, lefts: Sequence[Value], rights: Sequence[Value]
) -> Iterator[tuple[Value, Value]]:
    """Yield what two graphs take, or give: by name where programs go by it, else by place."""
    if left.kind == right.kind == "main":
        named = {value.name: value for value in rights}
        common = [(value, named[value.name]) for value in lefts if value.name in named]
        yield from common
        known = {value for pair in common for value in pair}
        lefts = [value for value in lefts if value not in known]
        rights = [value for value in rights if value not in known]
        if len(lefts) != len(rights):
            return
    yield from zip(lefts, rights, strict=False)
