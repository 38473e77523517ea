"""What files say of graphs: what these take and give, of values, of sparse initializers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from netloupe.explorer.model import (
    Dialect,
    Function,
    Graph,
    SparseTensor,
    Tensor,
    TensorType,
    Value,
)
from netloupe.explorer.model.reading import get_graph_reading, get_model_reading
from netloupe.explorer.model.statement import NOTHING_STATED, Statement, Way
from netloupe.explorer.progress import step

from .aspects import name_field
from .changes import Change
from .stated_values import StatedValues, pair_ends

if TYPE_CHECKING:
    from .matching import Matching

_STEP = 1_000

#: yields in what two values differ that stand at one place, of which the first text tells
CompareUses = Callable[[str, Value | None, Value | None], Iterator[Change]]


class StatedGraphs:
    """Compares what files say of two models and their graphs, where no node or weight says it.

    Parameters
    ----------
    matching
        The pairs.
    facts
        Which values are the same.
    compare_uses
        Compares what stands at one place.
    """

    def __init__(self, matching: Matching, facts: StatedValues, compare_uses: CompareUses) -> None:
        self._matching = matching
        self._facts = facts
        self._compare_uses = compare_uses

    def compare_models(self) -> Iterator[Change]:
        """Yield in what differs what stands in no node and no weight."""
        left, right = self._matching.left, self._matching.right
        states = [get_model_reading(model).state for model in (left, right)]
        if states[0] is not None and states[1] is not None:
            graphs = left.graph, right.graph
            yield from self._facts.compare(states[0](), states[1](), graphs=graphs)
        for model in (left, right):
            self._facts.unjudged += [
                f"{model.source}: {what}" for what in get_model_reading(model).left_out
            ]
        yield from self._compare_graphs()
        yield from self._list_graphs_alone()

    def _compare_graphs(self) -> Iterator[Change]:
        for left, right in self._matching.graphs:
            step()
            places = [] if left.kind == "main" else [left, right]
            for change in self._compare_graph(left, right):
                self._facts.places.setdefault(change.what, []).extend(places)
                yield change

    def _compare_graph(self, left: Graph, right: Graph) -> Iterator[Change]:
        where = "" if left.kind == "main" else f" of {left.path}"
        finders = get_graph_reading(left).loader, get_graph_reading(right).loader
        if finders[0] is not None and finders[1] is not None:
            states = finders[0].state_graph(), finders[1].state_graph()
            for change in self._facts.compare(*states, graphs=(left, right)):
                is_name = change.what == "name"
                told = f"name of the graph{where}" if is_name else change.what + where
                yield change._replace(what=told)
        elif left.kind != "step" and finders[0] is not finders[1]:
            self._facts.unjudged.append(f"{left.path}: what its file says of it")
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
            pairs = [*pair_ends(left, right, lefts, rights)]
            known = _find_places(rights)
            places = [known.get(other, 0) for _, other in pairs]
            if left.kind == "main" and places != sorted(places):
                before, after = (", ".join(v.name for v in row) for row in (lefts, rights))
                yield Change(f"order of {kind}s", before, after)
            for place, (one, other) in enumerate(pairs):
                if kind == "output":
                    yield from self._compare_uses(
                        f"what gives output {one.name}{where}", one, other
                    )
                if left.kind != "main" and one.name != other.name:
                    yield Change(f"name of {kind} {place}{where}", one.name, other.name, "names")

    def _compare_infos(self, left: Graph, right: Graph, where: str) -> Iterator[Change]:
        """Compare what is said of values beside nodes: types, texts, and where they are listed."""
        finders = get_graph_reading(left).loader, get_graph_reading(right).loader
        if finders[0] is None or finders[1] is None:
            return
        keys, others = finders[0].key_values(), finders[1].key_values()
        seen: set[str] = set()
        ends = {} if left.kind == "main" else _pair_by_place(left, right)
        for number, (name, value) in enumerate(_order_values(left, keys)):
            if not number % _STEP:
                step()
            partner = right.values.get(name) if value is None else self._facts.values.get(value)
            if value is not None and partner is None:
                other = right.values.get(name)
                is_same_end = other is not None and _is_end(value) and _is_end(other)
                is_taken = other is not None and other in self._facts.back
                if not is_same_end and (self._facts.is_explained(value) or is_taken):
                    continue
                partner = other
            elif value is not None and partner is not None and _is_end(value):
                other = right.values.get(name)
                if not _is_end(partner) and other is not None and _is_end(other):
                    partner = other  # whatever gives it now, it is known by its name
            if value in ends:
                partner = ends[value]  # and by its place, where programs go by that
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
            if keys.get(name) == others.get(second) and not _may_have_symbols(value):
                continue
            states = finders[0].state_value(name), finders[1].state_value(second)
            is_told = self._is_type_told(value, partner)
            yield from self._compare_info(
                name, value, states, where, (left, right), is_type_told=is_told
            )
        for name in (name for name in others if name not in seen):
            value = right.values.get(name)
            if value is not None and self._facts.is_explained(value):
                continue
            if (
                value is not None
                and value in self._facts.back
                and self._facts.back[value].name in keys
            ):
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
        *,
        is_type_told: bool = False,
    ) -> Iterator[Change]:
        found: dict[str, Change] = {}
        for change in self._list_of_info(name, value, states, where, graphs, is_type_told):
            # of one type another name and another size: what cannot be ignored counts
            if change.what not in found or not change.aspect:
                found[change.what] = change
        yield from found.values()

    def _list_of_info(
        self,
        name: str,
        value: Value | None,
        states: tuple[Statement, Statement],
        where: str,
        graphs: tuple[Graph, Graph],
        is_type_told: bool,
    ) -> Iterator[Change]:
        is_main = not where
        for way, change in self._facts.list_differing(*states, graphs):
            kind = way[0] if way[0] in ("input", "output") else "value"
            aspect = change.aspect
            if len(way) == 1 and kind == "value":
                # what is said on one side alone mostly follows from the rest
                aspect = "defaults" if value is not None and value.producer else "docs"
            if kind == "value" and aspect == "" and "dim_param" in way:
                aspect = "names"
            rest = [part for part in way[1:] if not part.startswith("#")]
            is_of_type = rest[:1] == ["type"] and rest[-1] != "denotation"
            if kind == "value" and is_of_type and is_type_told:
                continue
            label = f"{kind} {name}{where}"
            types = [_tell_type(graph, name) for graph in graphs]
            is_type = bool(rest) and rest[0] == "type" and types[0] != types[1]
            if is_main and kind != "value" and (not rest or is_type):
                yield Change(label, types[0], types[1], aspect)
            elif is_type:
                yield Change(f"type of {label}", None, None, aspect)
            else:
                told = _name_part(way, rest, self._facts.dialect)
                yield change._replace(what=f"{told} of {label}" if told else label, aspect=aspect)

    def _is_type_told(self, one: Value | None, other: Value | None) -> bool:
        """Return whether another type is told of the nodes that give two values, or of weights."""
        if one is None or other is None or self._facts.values.get(one) is not other:
            return False
        if one.type is None or other.type is None or str(one.type) == str(other.type):
            return False
        left, right = one.initializer, other.initializer
        if left is None and right is None:
            are_paired = {one.producer, other.producer} <= self._facts.paired
            return are_paired and one.output_index == other.output_index
        if not isinstance(left, Tensor) or self._matching.tensors.get(left) is not right:
            return False
        assert isinstance(right, Tensor)  # noqa: S101 - pairs are of tensors
        is_other = left.dtype != right.dtype or left.dims != right.dims
        return is_other and _is_stated_right(one, left) and _is_stated_right(other, right)

    def _compare_sparse(self, left: Graph, right: Graph) -> Iterator[Change]:
        named = {tensor.name: tensor for tensor in right.sparse_initializers}
        places = {id(tensor): n for n, tensor in enumerate(right.sparse_initializers)}
        finders = get_graph_reading(left).loader, get_graph_reading(right).loader
        for number, tensor in enumerate(left.sparse_initializers):
            value = left.values.get(tensor.name)
            partner = self._facts.values.get(value) if value is not None else None
            other = partner.initializer if partner is not None else named.get(tensor.name)
            label = f"sparse initializer {tensor.name}"
            second = right.values.get(tensor.name) if partner is None else partner
            about = [one for one in (value, second) if one is not None]
            if not isinstance(other, SparseTensor) or id(other) not in places:
                yield self._place(Change(label, tensor.path, None), about[:1])
                continue
            place = places.pop(id(other))
            if finders[0] is not None and finders[1] is not None:
                states = finders[0].state_sparse(number), finders[1].state_sparse(place)
                for change in self._facts.compare(*states, graphs=(left, right)):
                    told = change._replace(what=f"{change.what} of {label}")
                    yield self._place(told, about)
        for tensor in right.sparse_initializers:
            if id(tensor) in places:
                value = right.values.get(tensor.name)
                told = Change(f"sparse initializer {tensor.name}", None, tensor.path)
                yield self._place(told, [value] if value is not None else [])

    def _place(self, change: Change, values: Sequence[Value]) -> Change:
        """Return a change, of which it is noted which values it is about."""
        self._facts.places.setdefault(change.what, []).extend(values)
        return change

    def _list_graphs_alone(self) -> Iterator[Change]:
        compared = [{pair[side] for pair in self._matching.graphs} for side in (0, 1)]
        for side, model in enumerate((self._matching.left, self._matching.right)):
            for graph in model.graphs:
                node = graph.parent_node
                if graph in compared[side] or (node is not None and node not in self._facts.paired):
                    continue
                what = "function" if isinstance(graph, Function) else "graph"
                told = (graph.path, None) if side == 0 else (None, graph.path)
                change = Change(f"{what} {graph.path}", *told)
                self._facts.places.setdefault(change.what, []).append(graph)
                yield change


def _find_places(values: Sequence[Value]) -> dict[Value, int]:
    return {value: place for place, value in enumerate(values)}


def _order_values(graph: Graph, keys: Iterable[str]) -> Iterator[tuple[str, Value | None]]:
    """Yield the values of which a graph says something, what it takes and gives first."""
    names = dict.fromkeys(value.name for value in (*graph.inputs, *graph.outputs))
    for name in dict.fromkeys((*names, *keys)):
        yield name, graph.values.get(name)


def _pair_by_place(left: Graph, right: Graph) -> dict[Value | None, Value]:
    """Return by what a body takes and gives what the other one does at the same place."""
    found: dict[Value | None, Value] = {}
    for lefts, rights in ((left.outputs, right.outputs), (left.inputs, right.inputs)):
        found.update(pair_ends(left, right, lefts, rights))
    return found


def _is_end(value: Value) -> bool:
    return value.is_input or value.is_output


def _may_have_symbols(value: Value | None) -> bool:
    """Return whether an end has sizes by name, which may name other sizes where all is equal."""
    if value is None or not _is_end(value):
        return False
    if not isinstance(value.type, TensorType):
        return True
    return any(not isinstance(dim.value, int) for dim in value.type.shape or ())


def _name_part(way: Way, rest: list[str], dialect: Dialect) -> str:
    """Return what a field of a value's information is called; nothing for the whole of it."""
    if rest and rest[-1] == "denotation":
        axes = [part[1:] for part in way if part.startswith("#")]
        return "denotation" + "".join(f" of axis {axis}" for axis in axes[-1:])
    return name_field(tuple(rest), dialect) if rest else ""


def _is_stated_right(value: Value, tensor: Tensor) -> bool:
    """Return whether the type that is stated of an initializer is the one that it has."""
    kind = value.type
    if not isinstance(kind, TensorType) or kind.dtype != tensor.dtype or kind.shape is None:
        return False
    return tuple(size.value for size in kind.shape) == tuple(tensor.dims)


def _tell_type(graph: Graph, name: str) -> str | None:
    value = graph.values.get(name)
    if value is None or not (value.is_input or value.is_output):
        return None
    return str(value.type or "no type")
