"""Two models as one: what the newer one has, and beside it what is only in the older one.

The merged model has the paths of the newer one. What is gone has its own path where that is free.
What a node took in the older model, and takes no more, stands among what it waits for: operands
are those of the newer one alone.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from netloupe.explorer.grouping.merged import REMOVED
from netloupe.explorer.model import (
    Function,
    Graph,
    Model,
    Node,
    SparseTensor,
    Tensor,
    Value,
)
from netloupe.explorer.model.collector import collector_paused
from netloupe.explorer.model.emphasised import EmphasisedNodes
from netloupe.explorer.model.graph import get_inferred_types, give_inferred_types
from netloupe.explorer.model.header import TrainingInfo
from netloupe.explorer.model.kept import keep
from netloupe.explorer.model.model import add_function
from netloupe.explorer.model.node import connect_node
from netloupe.explorer.model.node_names import get_node_name, give_node_names
from netloupe.explorer.model.reading import GraphReading, get_graph_reading, set_graph_reading
from netloupe.explorer.model.value import share_notes
from netloupe.explorer.progress import step

from .matching import Matching
from .merged_groups import MergedGrouping
from .merged_loaders import MergedNodeLoader, MergedValueLoader, copy_attributes, copy_tensor
from .merged_model import MergedModel
from .merged_operands import OperandComparison
from .pair import Pair

_STEP = 1_000


def merge_models(
    matching: Matching, differing: Iterable[Node] = (), other: Iterable[Tensor] = ()
) -> MergedModel:
    """Make one model of two whose nodes are paired.

    Parameters
    ----------
    matching
        The pairs.
    differing
        Nodes of both models that are not the same: pictures show these first.
    other
        Weights of the older model whose partners hold other numbers.

    Returns
    -------
    MergedModel
        Everything of the newer model, and the nodes of the older one that have no partner, with
        the values between them. Attributes and elements are read from either when asked for.
    """
    with collector_paused():
        return _Merger(matching, frozenset(differing), frozenset(other)).run()


class _Merger:
    def __init__(
        self, matching: Matching, differing: frozenset[Node], other: frozenset[Tensor]
    ) -> None:
        self.matching = matching
        self.other = other
        self.differing = differing
        right = matching.right
        self.model = Model(right.source, right.format, right.container, right.dialect, right.files)
        self.merged = MergedModel(self.model)
        #: by graph of either model the one that stands for it
        self.graphs: dict[Graph, Graph] = {}
        self.left_of = {right: left for left, right in matching.graphs}
        self.gone = {node for node in matching.list_left_alone() if not _is_spare(node)}
        #: by node of the older model, the last of those that it is paired with
        self.partners = {node: pair.right[-1] for pair in matching.pairs for node in pair.left}
        self.right_partners = {node for pair in matching.pairs for node in pair.right}
        #: by graph of the older model
        self.pairs: dict[Graph, list[Pair]] = {}
        for pair in matching.pairs:
            self.pairs.setdefault(pair.left[0].graph, []).append(pair)
        self._pending: list[tuple[Graph | None, Graph | None, Graph]] = []

    def run(self) -> MergedModel:
        matching, model = self.matching, self.model
        left, right = matching.left, matching.right
        model.header, model.warnings = right.header, right.warnings
        self.queue(left.graph, right.graph, model.graph)
        for function in right.functions:
            self._add_function(function, self.left_of.get(function), function)
        paired = {*self.left_of.values()}
        for function in left.functions:
            if function not in paired:
                self._add_function(function, function, None)
        model.training = [
            TrainingInfo(
                self._add_root(one.initialization),
                self._add_root(one.algorithm),
                one.initialization_binding,
                one.update_binding,
            )
            for one in right.training
        ]
        model.nets = [graph for net in right.nets if (graph := self._add_root(net)) is not None]
        step("merging the models")
        while self._pending:
            _GraphMerger(self, *self._pending.pop()).run()
        for pair in matching.pairs:
            for node in pair.left:
                self.merged.older[node] = self.merged.newer[pair.right[0]]
            stand_ins = (self.merged.newer[node] for node in pair.right)
            self.merged.kept.update(one for one in stand_ins if isinstance(one, Node))
        stand_for = self.merged.older | self.merged.newer
        marked = map(stand_for.get, self.differing)
        nodes = frozenset(node for node in marked if isinstance(node, Node))
        keep(model, EmphasisedNodes(nodes))
        return self.merged

    def queue(self, left: Graph | None, right: Graph | None, graph: Graph) -> None:
        for one in (left, right):
            if one is not None:
                self.graphs[one] = graph
        self._pending.append((left, right, graph))

    def _add_root(self, right: Graph | None) -> Graph | None:
        if right is None:
            return None
        graph = Graph(self.model, right.kind, right.name, right.path)
        self.queue(self.left_of.get(right), right, graph)
        return graph

    def _add_function(self, shown: Function, left: Graph | None, right: Function | None) -> None:
        model, overload, path = self.model, shown.overload, shown.path
        if right is None:
            taken = {function.path for function in model.functions}
            while path in taken or model.function(shown.domain, shown.name, overload) is not None:
                overload, path = overload + REMOVED, path + REMOVED
        function = Function(model, shown.stated_domain, shown.name, overload, path)
        function.attribute_names = shown.attribute_names
        function.own_opset_imports = shown.own_opset_imports
        self.queue(left, right, function)
        for inner in shown.default_graphs:
            made = Graph(model, inner.kind, inner.name, path + inner.path[len(shown.path) :])
            function.default_graphs.append(made)
            is_newer = right is not None
            self.queue(None if is_newer else inner, inner if is_newer else None, made)
        function.attribute_defaults = copy_attributes(
            shown.attribute_defaults, self.graphs, shown.path, path
        )
        # calls in the older model may have another name for it
        former = [known for known in (left, right) if isinstance(known, Function)]
        add_function(model, function, *former)


def _is_spare(node: Node) -> bool:
    """Return whether a node is a constant, which another exporter writes as an initializer."""
    return node.operator.form == "Constant" and not node.inputs


class _GraphMerger:
    """Fills one graph with what is in a graph of each model; one of these may not be there."""

    def __init__(
        self, merger: _Merger, left: Graph | None, right: Graph | None, graph: Graph
    ) -> None:
        self.merger, self.left, self.right, self.graph = merger, left, right, graph
        self.older, self.newer = merger.merged.older, merger.merged.newer
        shown = right if right is not None else left
        assert shown is not None  # noqa: S101 - one of both is there
        self.shown = shown
        self._nodes: list[Node] = []
        self._values: list[Value] = []
        self._names: list[str] = []

    def run(self) -> None:
        step()
        graph, shown = self.graph, self.shown
        graph.doc, graph.metadata, graph.net = shown.doc, shown.metadata, shown.net
        graph.warnings, graph.name = shown.warnings, shown.name
        give_inferred_types(graph, get_inferred_types(shown))
        sides = [side for side in (self.left, self.right) if side is not None]
        reading = GraphReading(
            get_graph_reading(shown).loader,
            MergedValueLoader(self._values),
            any(get_graph_reading(side).has_denotations for side in sides),
        )
        set_graph_reading(graph, reading)
        if self.right is not None:
            for value in self.right.values.values():
                self.newer[value] = self._add_value(value)
            self._add_nodes(self.right.nodes, self.newer)
            graph.annotations = self.right.annotations
            graph.initializers = [*self.right.initializers]
            graph.sparse_initializers = [*self.right.sparse_initializers]
            self._list_ends(self.right, self.newer)
        if self.left is not None:
            self._add_older(self.left)
        give_node_names(graph, self._names)
        matching, partners = self.merger.matching, self.merger.partners
        reading.group_nodes = MergedGrouping(
            matching, graph, self.left, self.right, self.older, self.newer, partners
        ).group

    # values

    def _add_value(self, value: Value) -> Value:
        graph = self.graph
        key = _make_distinct(value.key, graph.values)
        made = Value(value.name, graph, key, place=len(self._values))
        self._values.append(value)
        made.is_parameter = value.is_parameter
        share_notes(made, value)
        stored = value.initializer
        made.initializer = None if stored is None else copy_tensor(stored, made.path)
        graph.values[key] = made
        return made

    def _find_newer(self, value: Value | None) -> Value | None:
        found = None if value is None else self.newer.get(value)
        return found if isinstance(found, Value) else None

    def _find_older(self, value: Value | None) -> Value | None:
        """Return what stands for a value of the older model; made where there is nothing yet."""
        if value is None:
            return None
        known = self.older.get(value)
        if isinstance(known, Value):
            return known
        merger = self.merger
        partner = merger.matching.values.get(value)
        found = None if value.initializer in merger.other else self._find_newer(partner)
        producer = value.producer
        if found is None and producer in merger.partners:  # inside of what was fused
            given = (self._find_newer(v) for v in merger.partners[producer].outputs)
            found = next((v for v in given if v is not None), None)
        if found is None:
            if value.graph is not self.left:
                return None
            found = self._add_value(value)
            if found.initializer is not None:
                tensor = found.initializer
                if isinstance(tensor, SparseTensor):
                    self.graph.sparse_initializers.append(tensor)
                else:
                    self.graph.initializers.append(tensor)
        self.older[value] = found
        return found

    def _list_ends(self, side: Graph, known: Mapping[Node | Value, Node | Value]) -> None:
        """Note what the newer graph takes and gives."""
        graph = self.graph
        for values, listed in ((side.inputs, graph.inputs), (side.outputs, graph.outputs)):
            for value in values:
                made = known.get(value)
                if isinstance(made, Value):
                    made.is_input, made.is_output = value.is_input, value.is_output
                    listed.append(made)

    # nodes

    def _add_nodes(self, nodes: Iterable[Node], known: dict[Node | Value, Node | Value]) -> None:
        """Add nodes of one of both graphs, and connect them as they are there."""
        is_newer = known is self.newer
        find = self._find_newer if is_newer else self._find_older
        origins = [*nodes]
        made: list[Node] = []
        taken = {*self._names}
        loader = MergedNodeLoader(self._nodes, self.merger.graphs)
        for number, node in enumerate(origins):
            if not number % _STEP:
                step()
            copy = Node(self.graph, len(self._nodes), node.name, node.op_type, node.domain, loader)
            copy.overload = node.overload
            name = _make_distinct(get_node_name(node.graph, node.index), taken)
            taken.add(name)
            self._names.append(name)
            self._nodes.append(node)
            self.graph.nodes.append(copy)
            known[node] = copy
            made.append(copy)
        for node, copy in zip(origins, made, strict=True):
            copy.outputs = tuple(map(find, node.outputs))
            for index, value in enumerate(copy.outputs):
                if value is not None and value.producer is None:
                    value.producer, value.output_index = copy, index
        for node, copy in zip(origins, made, strict=True):
            connect_node(copy, tuple(map(find, node.inputs)))
            copy.captures = tuple(filter(None, map(find, node.captures)))
            copy.control_inputs = tuple(filter(None, map(find, node.control_inputs)))
            copy.subgraphs = tuple(
                self._add_subgraph(inner, node, copy, is_newer=is_newer) for inner in node.subgraphs
            )

    def _add_subgraph(self, inner: Graph, node: Node, copy: Node, *, is_newer: bool) -> Graph:
        path = f"{self.graph.path}/{self._names[copy.index]}{inner.path[len(node.path) :]}"
        made = Graph(self.merger.model, inner.kind, inner.name, path, copy, inner.parent_attribute)
        left = self.merger.left_of.get(inner) if is_newer else inner
        self.merger.queue(left, inner if is_newer else None, made)
        return made

    # what is gone

    def _add_older(self, left: Graph) -> None:
        gone = self.merger.gone
        if self.right is None:
            nodes = [*left.nodes]
            for value in left.values.values():
                self._find_older(value)
        else:
            nodes = [node for node in left.nodes if node in gone]
            needed = {
                value.producer
                for node in nodes
                for value in (*node.inputs, *node.captures)
                if value is not None and value.producer is not None and value.graph is left
            }
            spare = {
                node for node in needed if _is_spare(node) and node not in self.merger.partners
            }
            nodes += sorted(spare, key=left.index_of)
        self._add_nodes(nodes, self.older)
        self._list_older_ends(left)
        if self.right is not None:
            self._note_other_operands(self.right)

    def _list_older_ends(self, left: Graph) -> None:
        """Note what only the older graph takes and gives."""
        graph, merger = self.graph, self.merger
        for value in left.inputs:
            if value not in merger.matching.values and value.initializer is None:
                made = self._find_older(value)
                if made is not None and not made.is_input:
                    made.is_input = True
                    graph.inputs.append(made)
        for value in left.outputs:
            producer = value.producer
            if producer is None or producer not in self.older or producer in merger.partners:
                continue  # of what is kept it is told that it is no output any more
            made = self._find_older(value)
            if made is not None and not made.is_output:
                made.is_output = True
                graph.outputs.append(made)

    def _note_other_operands(self, right: Graph) -> None:
        """Note what kept nodes took in the older graph and take no more, and what only now."""
        merger = self.merger
        comparison = OperandComparison(
            merger.matching,
            self.graph,
            self.older,
            self.newer,
            self._find_older,
            merger.gone,
            merger.partners,
            {self.newer[n] for n in right.nodes if n not in merger.right_partners},  # type: ignore[misc]
        )
        for pair in () if self.left is None else merger.pairs.get(self.left, ()):
            before, after = pair.left[0], pair.right[0]
            if len(pair.left) > 1 or len(pair.right) > 1 or pair.key == "wiring":
                continue
            copy = self.newer[after]
            assert isinstance(copy, Node)  # noqa: S101 - what stands for a node
            former, latter = comparison.compare(before, after, copy)
            if former:
                copy.control_inputs = (*copy.control_inputs, *former)
                merger.merged.former[copy] = former
            if latter:
                merger.merged.latter[copy] = latter


def _make_distinct(name: str, taken: Container[str]) -> str:
    """Return a name that is not taken yet."""
    if name not in taken:
        return name
    base = found = f"{name}{REMOVED}"
    count = 2
    while found in taken:
        found = f"{base}#{count}"
        count += 1
    return found
