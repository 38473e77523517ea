"""What an open item holds: items for nodes, groups, branches, inputs, outputs and constants.

Hidden shape arithmetic has no item: what it gives is a row on the faces of its consumers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import (
    Graph,
    Node,
    Value,
    called_constant,
    constant_tensor,
    describe_constant,
    is_constant,
    is_constant_node,
)
from netloupe.explorer.model.paths import CALL
from netloupe.explorer.patterns import describe_shape_value

from .bodies import bind_body, resolve_operand
from .bundles import bundle_ports
from .carried import gather_carried, join_entering, match_stream
from .constant_rows import make_rows
from .families import merge_families
from .group_borders import GroupBorders, body_graphs, find_constants
from .item import ConstantRow, Instance, Item, ItemKind
from .joined_ports import join_ports_of_one
from .loop_states import gather_states
from .many_values import list_distinct
from .stubs import add_stubs_of_others
from .terminals import Terminal, is_past_state, split_terminal, stack_terminals
from .value_names import name_inputs, name_outputs, name_passing_values

#: an open call inside the call of the same function would go on for ever; this deep is shown
MAX_CALL_DEPTH = 40


class ChildMaker:
    """Makes the children of items that are opened.

    Parameters
    ----------
    borders
        Gives the groups and borders of a graph.
    is_partial
        Whether only some nodes of the view's own graph are shown; its inputs and outputs are
        then shown where they are used.
    """

    def __init__(self, borders: Callable[[Graph], GroupBorders], *, is_partial: bool) -> None:
        self.borders = borders
        self.is_partial = is_partial

    def make_children(self, item: Item) -> list[Item]:
        """Return the children of an item, and note the occurrence of the graph they belong to."""
        element = item.element
        if item.repeat is not None and not item.is_unrolled:
            return self._repetition(item, item.repeat)
        if item.is_terminal:
            return self._list_terminals(item)
        children = self._make_children(item, element)
        join_ports_of_one(item, children, lambda graph: self.borders(graph).tree)
        bundle_ports(item, children)
        return children

    def _make_children(self, item: Item, element: Node | Group | Graph | Value) -> list[Item]:
        if item.kind == "group" and isinstance(element, Group):
            item.body = item.instance
            return self._members(item, element)
        if item.kind in ("root", "branch") and isinstance(element, Graph):
            return self._graph_children(item, element)
        if isinstance(element, Node):
            bodies = body_graphs(element)
            if len(bodies) == 1:
                item.body = self._enter(item, element, bodies[0])
                item.carried = gather_states(
                    element, bodies[0], item.values_at(item.inputs), item.values_at(item.outputs)
                )
                return self._graph_children(item, bodies[0])
            item.body = item.instance
            branches = [self._make_branch(item, element, body) for body in bodies]
            _name_by_past(branches)
            return branches
        return []

    def _repetition(self, item: Item, repeat: Group) -> list[Item]:
        """Return what is inside the repetition that an open repeat shows."""
        instance = item.instance
        borders = self.borders(repeat.graph)
        repetitions = borders.repetitions(repeat)
        found = repetitions.correspond(item.shown)
        body = Instance(instance.graph, instance.prefix, item, instance.occurrence)
        streams = match_stream(repetitions, item)
        body.bindings.update({**found.bindings, **streams})
        body.results.update(found.results)
        item.body = body
        item.unmatched = _count_unmatched(item, body)
        shown = repeat.children[item.shown]
        if isinstance(shown, Group) and shown.kind != "repeat":
            children = self._members(item, shown)
        else:
            children = [self._make_member(item, body, shown)]
        join_ports_of_one(item, children, lambda graph: self.borders(graph).tree)
        bundle_ports(item, children, found.only_from_others)
        item.carried = carried = gather_carried(
            found,
            repetitions.correspond(len(repeat.children) // 2),
            streams,
            lambda value: name_passing_values((value,), borders.tree),
            is_loop=repeat.is_loop,
        )
        join_entering(children, carried)
        known = carried.entering.keys() | streams
        taken = [value for value in found.only_from_others if value not in known]
        given = [value for value in found.only_to_others if value not in carried.leaving]
        add_stubs_of_others(item, children, taken, given)
        return children

    def _enter(self, caller: Item, node: Node, graph: Graph) -> Instance:
        """Return the occurrence of a node's body inside its item."""
        if graph.kind == "function":
            prefix = caller.path + CALL
        else:
            prefix = caller.instance.path_of(graph.path)
        instance = Instance(graph, prefix, caller)
        bind_body(instance, node)
        return instance

    def _make_branch(self, caller: Item, node: Node, graph: Graph) -> Item:
        body = self._enter(caller, node, graph)
        branch = Item(
            "branch",
            body.prefix,
            graph,
            caller.instance,
            caller,
            label=graph.parent_attribute,
            openable=True,
        )
        branch.body = body
        borders = self.borders(graph)
        captured = borders.group_inputs(borders.tree.root)
        outer = [value for value in captured if value.graph is not graph]
        outer += [value for value in graph.outputs if value.graph is not graph]
        given = [operand for operand in body.bindings.values() if operand is not None]
        branch.inputs = tuple(
            dict.fromkeys(
                value for value in [*given, *outer] if not self._is_row(caller.instance, value)
            )
        )
        wanted = set(caller.values_at(caller.outputs))
        branch.outputs = tuple(
            dict.fromkeys(
                outer for outers in body.results.values() for outer in outers if outer in wanted
            )
        )
        return branch

    def _graph_children(self, item: Item, graph: Graph) -> list[Item]:
        """Return the nodes and groups of a graph with its inputs and outputs where drawn."""
        assert item.body is not None  # noqa: S101 - set by the caller
        body = item.body
        members = self._members(item, self.borders(graph).tree.root)
        inputs, constants, outputs = self._find_terminals(body, graph, members)
        before = [
            *self._make_terminals("input", inputs, members, item, body),
            *self._make_terminals("constant", constants, members, item, body),
        ]
        after = self._make_terminals("output", outputs, [*members, *before], item, body)
        if body.caller is None:
            names = name_outputs(self.borders(graph).tree)
            if graph.kind == "main":
                names |= name_inputs(graph)
            for terminal in (*before, *after):
                value = terminal.element
                is_alone = terminal.kind != "constant" and not terminal.merged
                if is_alone and isinstance(value, Value):
                    terminal.label = names.get(value, terminal.label)
        return [*before, *members, *after]

    def _find_terminals(
        self, body: Instance, graph: Graph, members: Sequence[Item]
    ) -> tuple[Sequence[Value], ...]:
        """Return the inputs, constants and outputs of a graph that are boxes beside its members."""
        known = set(chain.from_iterable(m.values_at(m.outputs) for m in members))
        used = list_distinct(chain.from_iterable(m.values_at(m.inputs) for m in members))
        is_outermost = body.caller is None
        is_partial = self.is_partial and is_outermost
        inputs = list_distinct(graph.inputs)
        if is_partial:
            inputs = tuple(filter(set(used).__contains__, inputs))
        rows = self._find_rows(body, inputs)
        if rows or not is_outermost:
            inputs = tuple(v for v in inputs if v not in rows and not self._is_bound(body, v))
        known.update(inputs)
        if is_outermost:  # nothing is around: what comes from elsewhere gets a box too
            strays = tuple([value for value in used if value not in known])
            known.update(strays)
            inputs += strays
        outputs = list_distinct(graph.outputs)
        if is_partial:
            outputs = tuple(filter(known.__contains__, outputs))
        rows = self._find_rows(body, outputs)
        constants = tuple(filter(rows.__contains__, outputs)) if rows else ()
        if is_outermost:
            inputs += tuple([v for v in outputs if v.graph is not graph and v not in known])
        else:
            outputs = tuple(value for value in outputs if not body.results.get(value))
        return inputs, constants, outputs

    def _make_terminals(
        self,
        kind: ItemKind,
        values: Sequence[Value],
        others: Sequence[Item],
        parent: Item,
        body: Instance,
    ) -> list[Item]:
        stacked = stack_terminals(kind, values, others)
        return [self._terminal(kind, terminal, parent, body) for terminal in stacked]

    def _list_terminals(self, item: Item) -> list[Item]:
        """Return what a box for several inputs, outputs or constants holds."""
        item.body = body = item.instance
        (values,) = item.merged.values()
        listed = split_terminal(item.kind, values)
        return [self._terminal(item.kind, terminal, item, body) for terminal in listed]

    def _is_bound(self, body: Instance, value: Value) -> bool:
        """Return whether an edge reaches a formal input from an operand outside.

        A constant operand is a row on the caller and has no edge. What a loop carries may
        begin as a constant but does not stay one, so that it needs a box inside.
        """
        operand = body.bindings.get(value)
        caller = body.caller
        return (
            caller is not None
            and operand is not None
            and not self._is_row(caller.instance, operand)
        )

    def _terminal(self, kind: ItemKind, terminal: Terminal, parent: Item, body: Instance) -> Item:
        values = terminal.values
        first, last = values[0], values[-1]
        own = first.graph is body.graph
        path = f"{body.prefix}/%{first.key}" if own else first.path
        if len(values) > 1:
            path = f"{path} … %{last.key}"
        key = path if kind == "input" else f"{path} {kind}"
        if not own and body.caller is not None:
            key = f"{key} of {body.prefix}"  # the same value may stand in several branches
        item = Item(
            kind,
            path,
            resolve_operand(body, first)[0] if kind == "constant" else first,
            body,
            parent,
            key=key,
            label=terminal.label,
            openable=len(values) > 1,
        )
        item.names = terminal.names
        if len(values) > 1:
            item.merged = {first: values}
        if kind == "output":
            item.inputs = (first,)
        else:
            item.outputs = (first,)
        return item

    def _members(self, parent: Item, group: Group) -> list[Item]:
        assert parent.body is not None  # noqa: S101 - set before children are made
        body = parent.body
        return [
            self._make_member(parent, body, child)
            for child in group.children
            if not (isinstance(child, Group) and self.borders(body.graph).is_hidden(child))
        ]

    def _make_member(self, parent: Item, body: Instance, member: Group | Node) -> Item:
        if isinstance(member, Group):
            return self._make_group(parent, body, member)
        return self._make_node(parent, body, member)

    def _make_group(self, parent: Item, body: Instance, group: Group) -> Item:
        borders = self.borders(body.graph)
        item = Item(
            "group",
            body.path_of(group.path),
            group,
            body,
            parent,
            label=group.label,
            openable=True,
        )
        inputs = borders.group_inputs(group)
        item.inputs = tuple(value for value in inputs if not self._is_row(body, value))
        item.outputs = borders.group_outputs(group)
        if group.kind == "repeat":
            item.shown = group.exemplar
        merge_families(item, borders.families(group))
        return item

    def _make_node(self, parent: Item, body: Instance, node: Node) -> Item:
        borders = self.borders(body.graph)
        item = Item(
            "node",
            body.path_of(node.path),
            node,
            body,
            parent,
            label=borders.tree.node_labels.get(node.index, ""),
            openable=bool(body_graphs(node)) and self._may_enter(body),
        )
        inputs = borders.node_inputs(node)
        rows = self._find_rows(body, inputs)
        if rows:
            item.constants = make_rows(
                (index for index, value in enumerate(node.inputs) if value in rows),
                lambda index: self._constant_row(body, index, node.inputs[index]),
            )
            inputs = tuple(value for value in inputs if value not in rows)
        item.inputs = inputs
        item.outputs = borders.node_outputs(node)
        return item

    def _may_enter(self, body: Instance) -> bool:
        depth = 0
        caller = body.caller
        while caller is not None:
            depth, caller = depth + 1, caller.instance.caller
        return depth < MAX_CALL_DEPTH

    def _is_row(self, body: Instance, value: Value) -> bool:
        """Return whether a value, or what a call passes for it, is drawn without an edge.

        Constants are, and what hidden shape arithmetic gives.
        """
        if body.occurrence.caller is not None:
            value, _ = resolve_operand(body, value)
        if value.producer is None:
            return value.initializer is not None or value.is_parameter
        return is_constant(value) or self._is_shape(value) or called_constant(value) is not None

    def _find_rows(self, body: Instance, values: Iterable[Value]) -> set[Value]:
        """Return which values are drawn without an edge, each as :meth:`_is_row` tells."""
        if body.occurrence.caller is not None:
            return {value for value in values if self._is_row(body, value)}
        rows = find_constants(values, lambda node: is_constant_node(node) or self._is_hidden(node))
        if body.graph.model.functions:
            rows.update(value for value in values if called_constant(value) is not None)
        return rows

    def _is_hidden(self, node: Node) -> bool:
        return self.borders(node.graph).hidden_group(node) is not None

    def _is_shape(self, value: Value) -> bool:
        return value.producer is not None and self._is_hidden(value.producer)

    def _constant_row(self, body: Instance, index: int, value: Value | None) -> ConstantRow:
        assert value is not None  # noqa: S101 - what is left out is no constant
        origin, instance = resolve_operand(body, value)
        origin = called_constant(origin) or origin
        path = f"{instance.prefix}/%{origin.key}" if origin.graph is instance.graph else origin.path
        if self._is_shape(origin):
            return ConstantRow(index, None, describe_shape_value(origin), path, is_shape=True)
        return ConstantRow(index, constant_tensor(origin), describe_constant(origin), path)


def _count_unmatched(item: Item, body: Instance) -> tuple[int, int]:
    """Return how many inputs and outputs of a repeat the shown repetition has no part in.

    A family counts as one, in which every repetition has its part.
    """
    taken = body.bindings.values()
    given = (outer for outers in body.results.values() for outer in outers)
    return (
        _count_others(item.inputs, item.ports_by_value(item.inputs), taken),
        _count_others(item.outputs, item.ports_by_value(item.outputs), given),
    )


def _count_others(
    ports: Sequence[Value], by_value: Mapping[Value, Value], values: Iterable[Value | None]
) -> int:
    """Return how many ports have none of some values; only those of the values are looked at."""
    return len(ports) - len(
        {by_value[value] for value in values if value is not None and value in by_value}
    )


def _name_by_past(branches: Sequence[Item]) -> None:
    """Say of the two branches of a merged decoder which of them takes the states of past tokens.

    That is so where one takes inputs of the model named as such, and the other none of them.
    """
    if len(branches) != 2:
        return
    takes = [any(map(is_past_state, branch.values_at(branch.inputs))) for branch in branches]
    if takes[0] != takes[1]:
        for branch, has_past in zip(branches, takes, strict=True):
            branch.label += f" · {'with' if has_past else 'without'} past"
