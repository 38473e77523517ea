"""What every node of a model costs: shapes are followed from the inputs, node by node.

Nodes of equal operator, attributes and operands are looked at once. A body counts as often as it
runs: a function once for each call, both branches of an If (the larger one counts), the bodies of
Loop and Scan times their trips.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

from netloupe.explorer.model import Function, Graph, Model, Node, Value
from netloupe.explorer.model.node_keys import key_attributes, key_whole_attributes
from netloupe.explorer.model.stored_tensors import find_own_tensor
from netloupe.explorer.progress import step

from .bodies import BODIES, Body, Runs
from .bound_inputs import Replaced
from .fact_table import ABSENT, MOST_READ, NOT_KNOWN, FactTable
from .facts import UNKNOWN, Fact
from .peak import find_peak
from .polynomial import Amount, TooLargeError, find_larger
from .symbols import Symbols
from .uses import (
    TOO_LARGE,
    Attributes,
    Kind,
    look_at_use,
    make_kind,
    measure_activation,
    merge_facts,
)
from .work import NOTHING, Gap, Work, add_works

#: how many nodes are looked at in one step
_STEP = 10_000
#: bodies are looked at anew for other operands as long as no more nodes than this come up, where
#: a graph counts like some nodes
_MOST_AGAIN = 20_000
_GRAPH = 25
#: Constant nodes whose attributes are written in at most so many bytes hold all that they give
_MOST_KEY = 200

_BEYOND = Work(gaps={Gap("all of them", TOO_LARGE): 1})


class GraphRun:
    """One graph as it runs with operands of some types.

    Parameters
    ----------
    facts
        Where facts have their numbers.
    outer
        That of the graph around it.

    Attributes
    ----------
    works
        For each node the number of its work among those of the analysis.
    total
        The work of all nodes.
    peak
        The largest number of bytes alive at once; None where it is not known.
    """

    def __init__(self, facts: FactTable, graph: Graph, outer: GraphRun | None = None) -> None:
        self.graph = graph
        self.outer = outer
        self.is_local: bool = isinstance(graph, Function) if outer is None else outer.is_local
        self.context: int = 0 if outer is None else outer.context
        self.facts = _Known(facts, self)
        self.works: list[int] = [0] * len(graph.nodes)
        self.inside: dict[int, Amount | None] = {}
        self.total = NOTHING
        self.peak: Amount | None = 0


class _Known(dict[Value | None, int]):
    """Numbers of facts by value; of what no node has given yet, what the file says."""

    def __init__(self, facts: FactTable, frame: GraphRun) -> None:
        self[None] = ABSENT
        self._facts = facts
        self._frame = frame

    def __missing__(self, value: Value) -> int:
        own = self._frame
        if value.graph is not own.graph:
            frame = own.outer
            while frame is not None and frame.graph is not value.graph:
                frame = frame.outer
            if frame is not None:
                return frame.facts[value]
        is_given = value.is_input and own.outer is None
        found = self._facts.read_value(value, is_local=own.is_local, is_given=is_given)
        self[value] = found
        return found


class _Result(NamedTuple):
    facts: tuple[int, ...]
    work: Work
    peak: Amount | None


#: asks for a graph to be walked, and gets its frame
Walk = Generator[GraphRun, GraphRun, None]


class Analysis:
    """The costs of a model, with sizes for some symbols.

    Parameters
    ----------
    symbols
        The sizes that symbols have.
    replaced
        Shapes of inputs that are counted in place of the stated ones.
    """

    def __init__(self, model: Model, symbols: Symbols, replaced: Replaced) -> None:
        self.symbols = symbols
        self.replaced = replaced
        self.facts = FactTable(symbols)
        self.works: list[Work] = [NOTHING]
        #: the frames of each graph: of a function one for each kind of call
        self.frames: dict[Graph, list[GraphRun]] = {}
        self._kinds: dict[tuple[str, str, str, int | None], Kind] = {}
        self._uses: dict[tuple[Any, ...], tuple[tuple[int, ...], int, bool]] = {}
        self._constants: dict[bytes, int] = {}
        self._calls: dict[tuple[Any, ...], _Result | None] = {}
        self._contexts: dict[tuple[Any, ...], int] = {}
        self._attributes: list[Attributes] = [{}]
        self._left = 2 * model.node_count + 4 * _GRAPH * len(model.graphs) + _MOST_AGAIN
        self.main = self._run(model.graph)

    def frames_of(self, graph: Graph) -> list[GraphRun]:
        """Return the frames of a graph; one that nothing runs is walked on its own."""
        if graph not in self.frames:
            outermost = graph
            while outermost.parent_node is not None:
                outermost = outermost.parent_node.graph
            if outermost not in self.frames:
                self._run(outermost)
        return self.frames.get(graph, [])

    def _run(self, graph: Graph) -> GraphRun:
        """Walk a graph, and what it runs, without recursion."""
        first = GraphRun(self.facts, graph)
        for value in graph.inputs:  # the symbols that inputs have are known first
            first.facts[value]
        waiting = [(first, self._walk(first))]
        done: GraphRun | None = None
        while waiting:
            frame, walk = waiting[-1]
            try:
                asked = next(walk) if done is None else walk.send(done)
            except StopIteration:
                done = frame
                waiting.pop()
                continue
            done = None
            waiting.append((asked, self._walk(asked)))
        return first

    def _walk(self, frame: GraphRun) -> Walk:
        graph, facts, works = frame.graph, frame.facts, frame.works
        self.frames.setdefault(graph, []).append(frame)
        self._left -= len(graph.nodes) + _GRAPH
        operators = graph.wiring.operators.tolist() if graph.nodes else []
        kinds: dict[int, Kind] = {}
        find, find_use = facts.__getitem__, self._uses.get
        for index, node in enumerate(graph.nodes):
            if not index % _STEP:
                step("counting operations" if not index else "")
            kind = kinds.get(operators[index])
            if kind is None:
                kind = kinds[operators[index]] = self.find_kind(node)
            if node.subgraphs or not kind.is_plain:
                yield from self._walk_special(frame, node, kind)
                continue
            outputs = node.outputs
            key = (
                kind.number,
                (
                    len(outputs),
                    *((key_whole_attributes(node), frame.context) if kind.has_attributes else ()),
                ),
                *map(find, node.inputs),
            )
            use = find_use(key)
            if use is None:
                use = self._uses[key] = self._look(frame, node, kind, key)
            if not use[2] and len(outputs) <= MOST_READ:
                use = self._look_at_types(frame, node, kind, key)
            works[index] = use[1]
            if len(outputs) == 1 and outputs[0] is not None:  # as mostly
                facts[outputs[0]] = use[0][0]
                continue
            for value, number in zip(outputs, use[0], strict=False):
                if value is not None:
                    facts[value] = number
        self._finish(frame)

    def _finish(self, frame: GraphRun) -> None:
        frame.total = self.sum_works(frame.works)
        graph, facts = frame.graph, frame.facts
        values = graph.wiring.values
        own = len(graph.values)  # those of graphs around follow
        numbers = [*map(facts.__getitem__, values[:own]), *[ABSENT] * (len(values) - own)]
        sizes = {
            number: 0 if number == ABSENT else measure_activation(self.facts.of(number))
            for number in set(numbers)
        }
        frame.peak = find_peak(graph, numbers, sizes, frame.inside)

    def sum_works(self, numbers: Sequence[int]) -> Work:
        """Return the sum of the works of some numbers."""
        if len(numbers) == 1:
            return self.works[numbers[0]]
        counts = Counter(numbers)
        try:
            return add_works((self.works[number], count) for number, count in counts.items())
        except TooLargeError:
            return _BEYOND

    def find_kind(self, node: Node) -> Kind:
        """Return what is known of the operator of a node."""
        version = node.opset_version
        key = (node.domain, node.op_type, node.overload, version)
        found = self._kinds.get(key)
        if found is None:
            found = self._kinds[key] = make_kind(len(self._kinds), node)
        return found

    def _walk_special(self, frame: GraphRun, node: Node, kind: Kind) -> Walk:
        """Look at a node that gives a constant, calls a function, or runs the graphs in it."""
        function = node.function
        if function is not None:
            yield from self._call(frame, node, function, kind)
            return
        if node.subgraphs:
            yield from self._run_bodies(frame, node, kind)
            return
        for value in node.outputs[:1]:
            if value is not None:
                frame.facts[value] = self._read_constant(node, value)

    def _read_constant(self, node: Node, value: Value) -> int:
        key = key_attributes(node)
        is_told = len(key) <= _MOST_KEY and node.graph.dialect.has_opsets
        number = self._constants.get(key) if is_told else None
        if number is None:
            tensor = find_own_tensor(value)
            number = NOT_KNOWN if tensor is None else self.facts.read_tensor(tensor)
            if is_told:
                self._constants[key] = number
        return number

    def _look(
        self,
        frame: GraphRun,
        node: Node,
        kind: Kind,
        key: tuple[Any, ...],
        stated: Sequence[Fact] | None = None,
    ) -> tuple[tuple[int, ...], int, bool]:
        """Return numbers of facts of results and of the work, and whether nothing is missing."""
        operands = [self.facts.operand(number) for number in key[2:]]
        attributes = self.resolve(node, frame.context) if kind.has_attributes else {}
        seen = look_at_use(kind, node, operands, attributes, stated)
        number = self._add_work(seen.work)
        numbers = {id(fact): self.facts.number(fact) for fact in seen.facts}
        facts = tuple(numbers[id(fact)] for fact in seen.facts)
        return facts, number, seen.is_whole or stated is not None

    def _look_at_types(
        self, frame: GraphRun, node: Node, kind: Kind, key: tuple[Any, ...]
    ) -> tuple[tuple[int, ...], int, bool]:
        """Look at a use again, with what the file says of its results."""
        stated = self._list_stated(frame, node)
        more = ("stated", *key, *map(self.facts.number, stated))
        use = self._uses.get(more)
        if use is None:
            use = self._uses[more] = self._look(frame, node, kind, key, stated)
        return use

    def _list_stated(self, frame: GraphRun, node: Node) -> list[Fact]:
        return [
            UNKNOWN if value is None else self.facts.read_type(value, is_local=frame.is_local)
            for value in node.outputs
        ]

    def _add_work(self, work: Work) -> int:
        if work == NOTHING:
            return 0
        self.works.append(work)
        return len(self.works) - 1

    def resolve(self, node: Node, context: int) -> Attributes:
        """Return a node's attributes, with those of the call in place of references to them."""
        attributes = node.attributes
        if not context or not any(attribute.reference for attribute in attributes.values()):
            return attributes
        given = self._attributes[context]
        return {
            name: given.get(attribute.reference) if attribute.reference else attribute
            for name, attribute in attributes.items()
            if not attribute.reference or attribute.reference in given
        }

    def _call(self, frame: GraphRun, node: Node, function: Function, kind: Kind) -> Walk:
        context = self._find_context(frame, node, function)
        taken = tuple(frame.facts[value] for value in node.inputs)
        key = (function, context, taken)
        if key not in self._calls:
            if self._left < 0:
                self._note_gap(frame, node, kind, "functions are called in too many ways")
                return
            self._calls[key] = None
            inner = GraphRun(self.facts, function)
            inner.context = context
            for formal, number in zip(function.inputs, taken, strict=False):
                inner.facts[formal] = number
            for formal in function.inputs[len(taken) :]:
                inner.facts[formal] = ABSENT
            yield inner
            facts = tuple(inner.facts[value] for value in function.outputs)
            self._calls[key] = _Result(facts, inner.total, inner.peak)
        found = self._calls[key]
        if found is None:
            self._note_gap(frame, node, kind, "the function calls itself")
            return
        self._set_work(frame, node, found.work, found.peak)
        for value, number in zip(node.outputs, found.facts, strict=False):
            if value is not None:
                frame.facts[value] = number

    def _find_context(self, frame: GraphRun, node: Node, function: Function) -> int:
        """Return the number of the attributes that a call gives to the function."""
        key: tuple[Any, ...] = (function,)
        if function.attribute_names or function.attribute_defaults:
            attributes = key_whole_attributes(node)
            key = (function, attributes, frame.context, node if node.subgraphs else None)
        found = self._contexts.get(key)
        if found is None:
            given = {**function.attribute_defaults, **self.resolve(node, frame.context)}
            found = self._contexts[key] = self._add_context(given)
        return found

    def _add_context(self, attributes: Attributes) -> int:
        self._attributes.append(attributes)
        return len(self._attributes) - 1

    def _run_bodies(self, frame: GraphRun, node: Node, kind: Kind) -> Walk:
        """Run the graphs inside a node, as its operator has it."""
        if self._left < 0:
            self._note_gap(frame, node, kind, "graphs are nested in too many ways")
            return
        body = BODIES.get(node.operator.form)
        operands = [self.facts.of(frame.facts[value]) for value in node.inputs]
        runs = (body or Body()).start(node, operands, self.resolve(node, frame.context))
        known: dict[Graph, int] = {}
        if runs.carried:
            within = (each for graph in node.subgraphs for each in (graph, *graph.subgraphs))
            known = {each: len(self.frames.get(each, ())) for each in within}
        inner = yield from self._run_each(frame, node, runs)
        if runs.carried and self._is_changed(node, runs, inner):
            runs = runs.widen([self._list_outputs(one) for one in inner])
            # what was found for the first trip does not hold for all
            for graph in node.subgraphs:
                for each in (graph, *graph.subgraphs):
                    if each in self.frames:  # what is nested too deep was not walked
                        del self.frames[each][known.get(each, 0) :]
            inner = yield from self._run_each(frame, node, runs)
        bodies = [(one.total, self._list_outputs(one)) for one in inner]
        facts: Sequence[Fact] = ()
        peak: Amount | None = 0
        try:
            work, facts = runs.end(self.symbols, kind.label, bodies)
            for one in inner:
                peak = None if peak is None or one.peak is None else find_larger(peak, one.peak)
        except TooLargeError:
            work = _BEYOND
        self._set_work(frame, node, work, peak)
        stated = self._list_stated(frame, node)
        for value, fact in zip(node.outputs, merge_facts(facts, stated, len(stated)), strict=True):
            if value is not None:
                frame.facts[value] = self.facts.number(fact)

    def _run_each(
        self, frame: GraphRun, node: Node, runs: Runs
    ) -> Generator[GraphRun, GraphRun, list[GraphRun]]:
        inner = []
        for graph in node.subgraphs:
            body = GraphRun(self.facts, graph, frame)
            for value, fact in zip(graph.inputs, runs.inputs, strict=False):
                stated = self.facts.read_type(value, is_local=frame.is_local)
                body.facts[value] = self.facts.number(merge_facts([fact], [stated], 1)[0])
            inner.append((yield body))
        return inner

    def _list_outputs(self, frame: GraphRun) -> list[Fact]:
        return [self.facts.of(frame.facts[value]) for value in frame.graph.outputs]

    def _is_changed(self, node: Node, runs: Runs, inner: Sequence[GraphRun]) -> bool:
        """Return whether what a body hands to its next trip differs from what the first one got."""
        for one in inner:
            given = [self.facts.of(one.facts[value]) for value in one.graph.inputs]
            outputs = self._list_outputs(one)
            for place, output in runs.carried.items():
                if place < len(given) and output < len(outputs):
                    facts = (given[place], outputs[output])
                    first, later = (fact._replace(is_constant=False) for fact in facts)
                    if first != later:
                        return True
        return False

    def _note_gap(self, frame: GraphRun, node: Node, kind: Kind, reason: str) -> None:
        self._set_work(frame, node, Work(gaps={Gap(kind.label, reason): 1}), 0)

    def _set_work(self, frame: GraphRun, node: Node, work: Work, peak: Amount | None) -> None:
        frame.works[frame.graph.index_of(node)] = self._add_work(work)
        if peak != 0:
            frame.inside[frame.graph.index_of(node)] = peak
