"""What files say of paired elements, field by field: a second judge beside what is compared.

Nothing is equal because nobody looked. Of each pair all facts are compared that the file states
(:mod:`netloupe.explorer.model.statement`), which follow from the schema alone; and what paired
nodes take has to be the same, operand for operand. Names do not count for that: values are the same
where paired nodes give them, or graphs at one place of their inputs. A wrong pair of nodes can so
make differences, but no equality.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from netloupe.explorer.model import Function, Graph, Model, Node, SparseTensor, Tensor, Value
from netloupe.explorer.model.statement import (
    NOTHING_STATED,
    SizeName,
    Statement,
    UnreadElements,
    ValueName,
)
from netloupe.explorer.model.stored_tensors import find_own_tensor
from netloupe.explorer.progress import step
from netloupe.explorer.readers.protobuf.statements import digest_elements

from .aspects import Aspect, Way, find_aspect, name_field
from .changes import Change, says_same
from .rewiring import is_commutative, tell_value

if TYPE_CHECKING:
    from .matching import Matching, Pair

_STEP = 1_000


class StatedFacts:
    """Compares what files say of the elements of two models that are paired.

    Parameters
    ----------
    matching
        The pairs.

    Attributes
    ----------
    unjudged
        What could not be looked at, and why.
    """

    def __init__(self, matching: Matching) -> None:
        self.unjudged: list[str] = []
        self._matching = matching
        self._dialect = matching.left.dialect
        self._is_one_format = self._dialect is matching.right.dialect
        self._values: dict[Value, Value] = {}
        self._back: dict[Value, Value] = {}
        self._sizes: dict[str, str] = {}
        self._sizes_back: dict[str, str] = {}
        self._places = [_place_tensors(model) for model in (matching.left, matching.right)]
        singles = [p for p in matching.pairs if len(p.left) == len(p.right) == 1]
        self._paired = {node for p in singles for node in (p.left[0], p.right[0])}
        #: constants that stand in one another's place
        self._constants: set[Node] = set()
        self._pair_values(singles)

    # which values are the same

    def _pair_values(self, singles: Sequence[Pair]) -> None:
        for left, right in self._matching.graphs:
            for one, other in _pair_ends(left, right, left.inputs, right.inputs):
                if one.initializer is None and other.initializer is None:
                    self._add(one, other)
        for number, pair in enumerate(singles):
            if not number % _STEP:
                step()
            for first, second in zip(pair.left[0].outputs, pair.right[0].outputs, strict=False):
                if first is not None and second is not None:
                    self._add(first, second)
        for one, other in self._matching.values.items():
            if _is_stored(one) and _is_stored(other):
                self._add(one, other)

    def _add(self, one: Value, other: Value) -> None:
        if one not in self._values and other not in self._back:
            self._values[one] = other
            self._back[other] = one

    def _is_explained(self, value: Value) -> bool:
        """Return whether a value comes from a node that is told to be gone, new or fused."""
        node = value.producer
        return node is not None and node not in self._paired and not _is_stored(value)

    def _compare_uses(self, what: str, one: Value | None, other: Value | None) -> Iterator[Change]:
        """Yield in what two values differ that stand at one place, and should be the same."""
        if one is None or other is None:
            if one is not other:
                yield Change(what, one and tell_value(one), other and tell_value(other))
            return
        if self._values.get(one) is other or self._is_explained(one) or self._is_explained(other):
            yield from self._compare_constant_nodes(what, one, other)
            return
        if _is_from_nowhere(one) and _is_from_nowhere(other) and one.name == other.name:
            self._add(one, other)
            return
        if not (_is_stored(one) and _is_stored(other)):
            yield Change(what, tell_value(one), tell_value(other))
            return
        is_new = one not in self._values and other not in self._back
        if is_new:
            self._add(one, other)
        found = [*self._compare_stored(what, one, other)]
        yield from found
        if not is_new and not any(change.aspect == "" for change in found):
            # equal constants, of which one model has one for several of the other
            yield Change(what, tell_value(one), tell_value(other), "storage")

    def _compare_stored(self, what: str, one: Value, other: Value) -> Iterator[Change]:
        """Yield in what two constants differ of which nothing else is told."""
        left, right = find_own_tensor(one), find_own_tensor(other)
        sides = tell_value(one), tell_value(other)
        if left is None or right is None:
            nodes = one.producer, other.producer
            if left is not right or nodes[0] is None or nodes[1] is None:
                yield Change(what, *sides)
            else:
                yield from self._compare_constant_nodes(what, one, other)
            return
        if isinstance(left, Tensor) and self._matching.tensors.get(left) is right:
            return
        if (
            left is one.initializer
            and right is other.initializer
            and isinstance(left, SparseTensor)
        ):
            return  # told of the graphs
        same = _form(left) == _form(right)
        if same and isinstance(left, Tensor) and isinstance(right, Tensor):
            digests = digest_elements(left), digest_elements(right)
            self._note_unread(digests, (left.path, right.path))
            same = digests[0] == digests[1]
        elif same and isinstance(left, SparseTensor) and isinstance(right, SparseTensor):
            same = not any(
                change.aspect == ""
                for change in self._compare(_state_sparse(one), _state_sparse(other), one, other)
            )
        if not same:
            yield Change(what, *sides)
        elif (one.initializer is None) != (other.initializer is None):
            yield Change(what, _name_storage(one), _name_storage(other), "storage")

    def _compare_constant_nodes(self, what: str, one: Value, other: Value) -> Iterator[Change]:
        """Yield in what nodes differ that only give a constant, and are in no pair."""
        left, right = one.producer, other.producer
        if left is None or right is None or {left, right} & self._paired:
            return
        if not (_is_stored(one) and _is_stored(other)) or left in self._constants:
            return
        self._constants |= {left, right}
        for change in self._compare_nodes(left, right):
            is_told = change.what.startswith("attribute ") and not change.aspect
            yield change._replace(what=what if is_told else f"{change.what} of {what}")

    # nodes

    def compare_operands(self, left: Node, right: Node) -> Iterator[Change]:
        """Yield where two paired nodes take other values, or wait for others."""
        yield from self._compare_rows("input", left, left.inputs, right.inputs)
        one, other = left.control_inputs, right.control_inputs
        if len(one) != len(other):
            yield Change("number of control inputs", len(one), len(other))
        yield from self._compare_rows("control input", left, one, other)
        for place, (first, second) in enumerate(zip(left.outputs, right.outputs, strict=False)):
            if (first is None) != (second is None):
                before, after = (None if v is None else tell_value(v) for v in (first, second))
                yield Change(f"output {place}", before, after)

    def _compare_rows(
        self, what: str, node: Node, one: Sequence[Value | None], other: Sequence[Value | None]
    ) -> Iterator[Change]:
        turned = self._turn(one, other) if is_commutative(node) else other
        found = [
            change
            for place, sides in enumerate(zip(one, turned, strict=False))
            for change in self._compare_uses(f"{what} {place}", *sides)
        ]
        yield from found
        if turned is not other and not any(change.aspect == "" for change in found):
            yield Change("order of operands", None, None, "order")

    def _turn(
        self, one: Sequence[Value | None], other: Sequence[Value | None]
    ) -> Sequence[Value | None]:
        """Return operands in the order in which the others have them, where that is another."""
        if len(one) != len(other) or None in one or None in other:
            return other
        rest = [*other]
        turned: list[Value | None] = [self._values.get(value) for value in one if value]
        turned = [value if value in rest else None for value in turned]
        for value in turned:
            if value in rest:
                rest.remove(value)
        # constants that are in no pair yet stand for one another
        rest.sort(key=lambda value: value is not None and _is_stored(value))
        for place, value in enumerate(one):
            if turned[place] is None and rest:
                is_last = value is not None and _is_stored(value)
                turned[place] = rest.pop(-1 if is_last else 0)
        return other if turned == [*other] else turned

    def compare_nodes(self, left: Node, right: Node) -> Iterator[Change]:
        """Yield in what the file says other things of two paired nodes, their operands aside."""
        return self._compare_nodes(left, right)

    def _compare_nodes(self, left: Node, right: Node) -> Iterator[Change]:
        if not self._is_one_format or says_same(left, right):
            return
        values = (value for value in left.outputs if value is not None)
        ends = next(values, None), next((v for v in right.outputs if v is not None), None)
        yield from self._compare(
            left._loader.state(left), right._loader.state(right), *ends, (left.graph, right.graph)
        )

    # tensors

    def compare_tensors(self, left: Tensor, right: Tensor) -> Iterator[Change]:
        """Yield in what the file says other things of two initializers, their elements aside."""
        one, other = self._places[0].get(left), self._places[1].get(right)
        if one is None or other is None:
            if one is not other:  # one of both is what a constant node gives
                yield Change(
                    "storage",
                    "initializer" if one is not None else "constant node",
                    "initializer" if other is not None else "constant node",
                    "storage",
                )
            return
        if not self._is_one_format:
            return
        states = [
            NOTHING_STATED if finder is None else finder.state_tensor(place)
            for finder, place in ((graph._unknown_finder, place) for graph, place in (one, other))
        ]
        yield from self._compare(states[0], states[1], graphs=(one[0], other[0]))

    # models and graphs

    def compare_models(self) -> Iterator[Change]:
        """Yield in what differs what stands in no node and no weight."""
        left, right = self._matching.left, self._matching.right
        if not self._is_one_format:
            return
        states = [model._state for model in (left, right)]
        if states[0] is not None and states[1] is not None:
            graphs = left.graph, right.graph
            yield from self._compare(states[0](), states[1](), graphs=graphs)
        for model in (left, right):
            self.unjudged += [f"{model.source}: {what}" for what in model._left_out]
        yield from self._compare_graphs()
        yield from self._list_graphs_alone()

    def _compare_graphs(self) -> Iterator[Change]:
        for left, right in self._matching.graphs:
            step()
            where = "" if left.kind == "main" else f" of {left.path}"
            finders = left._unknown_finder, right._unknown_finder
            if finders[0] is not None and finders[1] is not None:
                states = finders[0].state_graph(), finders[1].state_graph()
                for change in self._compare(*states, graphs=(left, right)):
                    is_name = change.what == "name"
                    told = f"name of the graph{where}" if is_name else change.what + where
                    yield change._replace(what=told)
            elif left.kind != "step" and finders[0] is not finders[1]:
                self.unjudged.append(f"{left.path}: what its file says of it")
            yield from self._compare_ends(left, right, where)
            yield from self._compare_infos(left, right, where)
            yield from self._compare_sparse(left, right)

    def _compare_ends(self, left: Graph, right: Graph, where: str) -> Iterator[Change]:
        """Compare what graphs take and give, and the order of it."""
        for kind, lefts, rights in (
            ("input", left.inputs, right.inputs),
            ("output", left.outputs, right.outputs),
        ):
            if len(lefts) != len(rights) and left.kind != "main":
                yield Change(f"number of {kind}s{where}", len(lefts), len(rights))
            pairs = [*_pair_ends(left, right, lefts, rights)]
            places = [_find_places(rights).get(other, 0) for _, other in pairs]
            if left.kind == "main" and places != sorted(places):
                before, after = (", ".join(v.name for v in row) for row in (lefts, rights))
                yield Change(f"order of {kind}s", before, after)
            for one, other in pairs:
                if kind == "output":
                    yield from self._compare_uses(
                        f"what gives output {one.name}{where}", one, other
                    )
                if left.kind != "main" and one.name != other.name:
                    yield Change(f"name of {kind}{where}", one.name, other.name, "names")

    def _compare_infos(self, left: Graph, right: Graph, where: str) -> Iterator[Change]:
        """Compare what is said of values beside nodes: types, texts, and where they are listed."""
        finders = left._unknown_finder, right._unknown_finder
        if finders[0] is None or finders[1] is None:
            return
        keys, others = finders[0].key_values(), finders[1].key_values()
        seen: set[str] = set()
        for number, (name, value) in enumerate(_order_values(left, keys)):
            if not number % _STEP:
                step()
            partner = right.values.get(name) if value is None else self._values.get(value)
            if value is not None and partner is None:
                other = right.values.get(name)
                is_same_end = other is not None and _is_end(value) and _is_end(other)
                is_taken = other is not None and other in self._back
                if not is_same_end and (self._is_explained(value) or is_taken):
                    continue
                partner = other
            elif value is not None and partner is not None and _is_end(value):
                other = right.values.get(name)
                if not _is_end(partner) and other is not None and _is_end(other):
                    partner = other  # whatever gives it now, it is known by its name
            second = partner.name if partner is not None and partner.graph is right else None
            if second is None:
                yield from self._compare_info(
                    name,
                    value,
                    (finders[0].state_value(name), NOTHING_STATED),
                    where,
                    (left, right),
                )
                continue
            seen.add(second)
            if keys.get(name) == others.get(second) and not (value and _is_end(value)):
                continue
            states = finders[0].state_value(name), finders[1].state_value(second)
            yield from self._compare_info(name, value, states, where, (left, right))
        for name in others.keys() - seen:
            value = right.values.get(name)
            if value is not None and self._is_explained(value):
                continue
            if value is not None and value in self._back and self._back[value].name in keys:
                continue
            states = NOTHING_STATED, finders[1].state_value(name)
            yield from self._compare_info(name, value, states, where, (left, right))

    def _compare_info(
        self,
        name: str,
        value: Value | None,
        states: tuple[Statement, Statement],
        where: str,
        graphs: tuple[Graph, Graph],
    ) -> Iterator[Change]:
        is_main = not where
        for way, change in self._list_differing(*states, graphs):
            kind = way[0] if way[0] in ("input", "output") else "value"
            aspect = change.aspect
            if len(way) == 1 and kind == "value":
                # what is said on one side alone mostly follows from the rest
                aspect = "defaults" if value is not None and value.producer else "docs"
            if kind == "value" and aspect == "" and "dim_param" in way:
                aspect = "names"
            rest = [part for part in way[1:] if not part.startswith("#")]
            label = f"{kind} {name}{where}"
            if is_main and kind != "value" and (not rest or rest[0] == "type"):
                types = [_tell_type(graph, name) for graph in graphs]
                yield Change(label, types[0], types[1], aspect)
            elif rest and rest[0] == "type":
                yield Change(f"type of {label}", None, None, aspect)
            else:
                told = f"{name_field(tuple(rest), self._dialect)} of {label}" if rest else label
                yield change._replace(what=told, aspect=aspect)

    def _compare_sparse(self, left: Graph, right: Graph) -> Iterator[Change]:
        named = {tensor.name: tensor for tensor in right.sparse_initializers}
        places = {id(tensor): n for n, tensor in enumerate(right.sparse_initializers)}
        finders = left._unknown_finder, right._unknown_finder
        for number, tensor in enumerate(left.sparse_initializers):
            value = left.values.get(tensor.name)
            partner = self._values.get(value) if value is not None else None
            other = partner.initializer if partner is not None else named.get(tensor.name)
            label = f"sparse initializer {tensor.name}"
            if not isinstance(other, SparseTensor) or id(other) not in places:
                yield Change(label, tensor.path, None)
                continue
            place = places.pop(id(other))
            if finders[0] is not None and finders[1] is not None:
                states = finders[0].state_sparse(number), finders[1].state_sparse(place)
                for change in self._compare(*states, graphs=(left, right)):
                    yield change._replace(what=f"{change.what} of {label}")
        for tensor in right.sparse_initializers:
            if id(tensor) in places:
                yield Change(f"sparse initializer {tensor.name}", None, tensor.path)

    def _list_graphs_alone(self) -> Iterator[Change]:
        compared = [{pair[side] for pair in self._matching.graphs} for side in (0, 1)]
        for side, model in enumerate((self._matching.left, self._matching.right)):
            for graph in model.graphs:
                node = graph.parent_node
                if graph in compared[side] or (node is not None and node not in self._paired):
                    continue
                what = "function" if isinstance(graph, Function) else "graph"
                told = (graph.path, None) if side == 0 else (None, graph.path)
                yield Change(f"{what} {graph.path}", *told)

    def pair_unused(self, lefts: Iterable[Node], rights: Iterable[Node]) -> list[Change]:
        """Compare constants that nothing takes, by the names of what they give."""
        found: list[Change] = []
        named = {_name_result(node): node for node in rights if node not in self._constants}
        for node in lefts:
            other = named.get(_name_result(node))
            if other is not None and node not in self._constants:
                self._constants |= {node, other}
                label = f"constant {_name_result(node)}"
                found += (
                    change._replace(what=f"{change.what} of {label}")
                    for change in self._compare_nodes(node, other)
                )
        return found

    def is_compared(self, node: Node) -> bool:
        """Return whether a node that is in no pair was compared as a constant."""
        return node in self._constants

    # facts

    def _compare(
        self,
        left: Statement,
        right: Statement,
        one: Value | None = None,
        other: Value | None = None,
        graphs: tuple[Graph, Graph] | None = None,
    ) -> Iterator[Change]:
        if graphs is None and one is not None and other is not None:
            graphs = one.graph, other.graph
        for _, change in self._list_differing(left, right, graphs):
            yield change

    def _list_differing(
        self, left: Statement, right: Statement, graphs: tuple[Graph, Graph] | None
    ) -> Iterator[tuple[Way, Change]]:
        """Yield the ways on which two statements differ; of what is gone only where it began."""
        gone: set[Way] = set()
        found: dict[tuple[str, bool], tuple[Way, Change]] = {}
        for way in sorted({*left, *right}):
            one, other = left.get(way), right.get(way)
            if one is None or other is None:
                if any(way[:length] in gone for length in range(1, len(way))):
                    continue
            elif isinstance(one.content, SizeName) and isinstance(other.content, SizeName):
                if self._judge_sizes(one, other) is None:
                    continue
            elif self._is_same(one.content, other.content, graphs):
                continue
            contents = [fact.content for fact in (one, other) if fact is not None]
            if self._note_unread(contents, [".".join(way)] * 2):
                continue
            aspect = find_aspect(way, one, other, self._dialect)
            if aspect is None:
                continue
            if aspect == "" and (one is None or other is None or isinstance(one.content, int)):
                gone.add(way)
            if aspect == "names" and way[-1] == "dim_param":
                aspect = self._judge_sizes(one, other)
                if aspect is None:
                    continue
            shown = [None if fact is None else fact.shown for fact in (one, other)]
            change = Change(name_field(way, self._dialect), shown[0], shown[1], aspect)
            key = change.what, bool(aspect)
            found.setdefault(key, (way, change))
        yield from found.values()

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
                known = self._values.get(first)
                return known is second or (known is None and one == other)
        return bool(one == other)

    def _note_unread(self, contents: Sequence[object], paths: Sequence[str]) -> bool:
        found = [
            f"{path}: {content.reason}"
            for path, content in zip(paths, contents, strict=False)
            if isinstance(content, UnreadElements)
        ]
        self.unjudged += found
        return bool(found)


def _is_stored(value: Value) -> bool:
    """Return whether a value is stored: as an initializer, or in a node without operands."""
    if value.initializer is not None:
        return True
    node = value.producer
    return (
        node is not None
        and not node.inputs
        and node.graph.dialect.constant_source(node) == "stored"
    )


def _is_from_nowhere(value: Value) -> bool:
    """Return whether nothing in the file gives a value: whoever runs the model knows its name."""
    return value.producer is None and value.initializer is None and not value.is_input


def _form(tensor: Tensor | SparseTensor) -> tuple[object, ...]:
    return type(tensor).__name__, tensor.dtype.name, tensor.dims


def _name_storage(value: Value) -> str:
    return "constant node" if value.initializer is None else "initializer"


def _state_sparse(value: Value) -> Statement:
    graph, tensor = value.graph, value.initializer
    for place, one in enumerate(graph.sparse_initializers):
        if one is tensor and graph._unknown_finder is not None:
            return graph._unknown_finder.state_sparse(place)
    node = value.producer
    return NOTHING_STATED if node is None else node._loader.state(node)


def _place_tensors(model: Model) -> dict[Tensor, tuple[Graph, int]]:
    """Return by initializer its graph, and its place there."""
    return {
        tensor: (graph, place)
        for graph in model.graphs
        for place, tensor in enumerate(graph.initializers)
    }


def _pair_ends(
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


def _find_places(values: Sequence[Value]) -> dict[Value, int]:
    return {value: place for place, value in enumerate(values)}


def _order_values(graph: Graph, keys: Iterable[str]) -> Iterator[tuple[str, Value | None]]:
    """Yield the values of which a graph says something, what it takes and gives first."""
    names = dict.fromkeys(value.name for value in (*graph.inputs, *graph.outputs))
    for name in dict.fromkeys((*names, *keys)):
        yield name, graph.values.get(name)


def _is_end(value: Value) -> bool:
    return value.is_input or value.is_output


def _tell_type(graph: Graph, name: str) -> str | None:
    value = graph.values.get(name)
    if value is None or not (value.is_input or value.is_output):
        return None
    return str(value.type or "no type")


def _name_result(node: Node) -> str:
    return next((value.name for value in node.outputs if value is not None), "")
