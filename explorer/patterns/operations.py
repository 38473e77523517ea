"""Nodes as the operations that they amount to, whatever an exporter put between them.

What only changes type, precision or layout is left out of the wiring, constants and what follows
from them or from shapes alone are set apart, and operators that do the same have one name. So a
LayerNorm with a Cast in it, or between QuantizeLinear and DequantizeLinear, is wired as one
without.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from netloupe.explorer.dataflow import MOST_PASSED, is_input_independent
from netloupe.explorer.model import Node, Value, list_quantized_operands
from netloupe.explorer.operators import HANDING_TRAITS, Operator, kept_with_catalogue

from .graph_context import GraphContext
from .idle_nodes import is_idle
from .picked_tokens import read_picked_token
from .readings import is_projection, read_quantized, read_scalar
from .scalings import read_scaling
from .shuffles import read_shuffle

#: stands for all users that are not among the operations
OUTSIDE = -1
#: what changes nothing but type, precision or layout of the first operand
ARRANGING = (*HANDING_TRAITS, "broadcasts")
#: what takes a part of its first operand
PICKING = ("gathers", "picks")
#: what takes a value apart, or a part of it
PARTING = (*PICKING, "slices", "splits")
#: roles of operands that limit what is computed with, or fill the places around
_LIMITING = frozenset({"bound", "fill"})
_MOST_USERS = 10_000
#: a sequence of which one place is taken has so many users at most
_MOST_PICKING = 16


class Operations:
    """The operations among some nodes, by their numbers.

    Parameters
    ----------
    nodes
        Nodes of one graph, producers first.
    context
        What is known of that graph.

    Attributes
    ----------
    nodes
        Those that are operations, in order.
    arrangement
        Those that only arrange.
    kinds
        By operation, the name of what it does: ``Conv`` for ``QLinearConv``, too.
    operands
        By operation, the computed values that it takes, as they were before arrangement.
    users
        By operation, which others take its results, and `OUTSIDE` where something else does.
    """

    def __init__(self, nodes: Sequence[Node], context: GraphContext) -> None:
        self.context = context
        self.nodes: list[Node] = []
        self.arrangement: list[Node] = []
        self.kinds: list[str] = []
        self.operands: list[list[Value]] = []
        self.users: list[list[int]] = []
        self._givers: list[list[int]] = []
        self._inside = frozenset(nodes)
        self._numbers: dict[Node, int] = {}
        self._fixed = context.unchanging
        self._sources: dict[Value, Value] = {}
        #: what multiplies a product by its scale, decided with producers first
        self._rescaling: set[Node] = set()
        #: of what multiplies the result of a layer in the end by a number, ``× 8``
        self.scaled: dict[Node, str] = {}
        #: what changes nothing
        self._idle: set[Node] = set()
        #: of what takes one place of a sequence at the beginning, which: ``first token``
        self.picked: dict[Node, str] = {}
        #: Transposes that move pixels, by what they do
        self._shuffles: dict[Node, str] = {}
        for node in nodes:
            operator = node.operator
            if operator.has("reads_shape") or self._gives_fixed(node):
                continue
            if self._is_arrangement(node, operator):
                self.arrangement.append(node)
            else:
                self._numbers[node] = len(self.nodes)
                self.nodes.append(node)
        for node in self.nodes:
            operator = node.operator
            kind = self._shuffles.get(node) or operator.form
            operands = self._find_operands(node, operator)
            if len(operands) == 1 and (kind == "MatMul" or is_projection(node)):
                kind = "Gemm"
            elif kind == "Gemm" and len(operands) == 2 and not self.is_fixed(node.input(1)):
                kind = "MatMul"
            # what takes nothing that is computed, as no operator should, is of no kind
            self.kinds.append(kind if operands else "")
            self.operands.append(operands)
            self.users.append([])
        self._find_users()

    def __len__(self) -> int:
        return len(self.nodes)

    def _is_arrangement(self, node: Node, operator: Operator) -> bool:
        """Return whether a node only arranges; moving pixels between space and channels is more."""
        if operator.has("permutes"):
            shuffle = read_shuffle(node, self.context)
            if shuffle is not None:
                self._shuffles[node] = shuffle[0]
                return False
        if operator.has("multiplies_elements") and self._is_rescaling(node):
            self._rescaling.add(node)
            return True
        if operator.has(*ARRANGING):
            return True
        if is_idle(node):
            self._idle.add(node)
            return True
        return self._is_picked_at_first(node, operator) or self._is_scaled_at_last(node, operator)

    def _is_scaled_at_last(self, node: Node, operator: Operator) -> bool:
        """Return whether a node multiplies what all others give in the end by one number."""
        if not operator.has("multiplies_elements", "divides") or not node.outputs:
            return False
        result = node.output(0)
        users = () if result is None else result.users[:_MOST_PICKING]
        if any(user in self._inside for user in users):
            return False
        factor = read_scaling(node)
        source = next((v for v in node.inputs if v is not None and not self.is_fixed(v)), None)
        is_inside = source is not None and source.producer in self._inside
        if factor and is_inside:
            self.scaled[node] = factor
        return bool(factor) and is_inside

    def _is_picked_at_first(self, node: Node, operator: Operator) -> bool:
        """Return whether a node takes one place of what all others take nothing else of."""
        value = node.input(0) if operator.has("gathers", "slices") else None
        if value is None or value.producer in self._inside or len(value.users) > _MOST_PICKING:
            return False
        if any(user in self._inside and user is not node for user in value.users):
            return False
        word = read_picked_token(node)
        if word:
            self.picked[node] = word
        return bool(word)

    def _gives_fixed(self, node: Node) -> bool:
        outputs = [value for value in node.outputs if value is not None]
        return bool(outputs) and self.is_fixed(outputs[0])

    def _is_rescaling(self, node: Node) -> bool:
        """Return whether what a node multiplies is a product of integers, and its scale."""
        data = [value for value in node.inputs if value is not None and not self.is_fixed(value)]
        producer = self.source(data[0]).producer if len(data) == 1 else None
        return producer in self._inside and producer.operator.has("scales_product")

    def _find_operands(self, node: Node, operator: Operator) -> list[Value]:
        return [
            self.source(value)
            for place, value in enumerate(node.inputs)
            if value is not None and _is_data(operator, place) and not self.is_fixed(value)
        ]

    def _find_users(self) -> None:
        users: list[dict[int, None]] = [{} for _ in self.nodes]
        for number, operands in enumerate(self.operands):
            found = map(self.giver, operands)
            givers = [giver for giver in found if giver is not None]
            self._givers.append(givers)
            for giver in givers:
                users[giver][number] = None
        for node in (*self.nodes, *self.arrangement):
            for output in node.outputs:
                if output is not None and self._leaves(output):
                    source = self.giver(self.source(output))
                    if source is not None:
                        users[source][OUTSIDE] = None
        self.users = [list(each) for each in users]

    def _leaves(self, value: Value) -> bool:
        """Return whether something outside takes a value; its shape alone does not count."""
        if value.is_output:
            return True
        users = value.users
        if len(users) > _MOST_USERS:
            return True
        return any(
            user not in self._inside and not user.operator.has("reads_shape") for user in users
        )

    def is_fixed(self, value: Value | None) -> bool:
        """Return whether a value is a constant, or follows from constants and shapes alone."""
        if value is None:
            return True
        known = self._fixed.get(value)
        return self.context.is_unchanging(value) if known is None else known

    def source(self, value: Value) -> Value:
        """Return what a value was before nodes among these arranged it."""
        found = self._sources.get(value)
        if found is not None:
            return found
        current: Value = value
        for _ in range(MOST_PASSED):
            data = self._find_arranged(current)
            if data is None:
                break
            current = data
        self._sources[value] = current
        return current

    def giver(self, value: Value) -> int | None:
        """Return the operation that gives a value; None where it comes from elsewhere."""
        producer = value.producer
        return self._numbers.get(producer) if producer is not None else None

    def givers(self, number: int) -> list[int]:
        """Return the operations that an operation takes from."""
        return [*self._givers[number]]

    def given_by(self, value: Value, *kinds: str) -> int | None:
        """Return the operation that gives a value, where it is of some kinds."""
        giver = self.giver(value)
        return giver if giver is not None and self.kinds[giver] in kinds else None

    def takers(self, number: int) -> list[int]:
        """Return what takes the first result of an operation, and `OUTSIDE` where that leaves."""
        first, *others = self.nodes[number].outputs or (None,)
        if first is None or not any(other is not None for other in others):
            return self.users[number]
        found = [u for u in self.users[number] if u >= 0 and first in self.operands[u]]
        return [*found, OUTSIDE] if self._leaves(first) else found

    def only_user(self, number: int) -> int | None:
        """Return the one operation that takes an operation's results; None for several."""
        users = self.users[number]
        return users[0] if len(users) == 1 and users[0] != OUTSIDE else None

    def path(self, value: Value | None) -> list[Node]:
        """Return the nodes that arrange a value, from where it is taken back to its source."""
        found: list[Node] = []
        while value is not None and value.producer is not None and len(found) < MOST_PASSED:
            data = self._find_arranged(value)
            if data is None:
                break
            found.append(value.producer)
            value = data
        return found

    def _find_arranged(self, value: Value) -> Value | None:
        """Return what a node among these arranges that gives a value; None where none does."""
        node = value.producer
        if node is None or node not in self._inside or node in self._numbers:
            return None
        is_arranging = node.operator.has(*ARRANGING) or node in self._rescaling
        is_part = node in self.picked or node in self.scaled or node in self._idle
        if not is_arranging and not is_part:
            return None
        return next((v for v in node.inputs if v is not None and not self.is_fixed(v)), None)

    def list_nodes(
        self, numbers: Collection[int], *, are_leading_in: bool = True, are_shared: bool = False
    ) -> tuple[Node, ...]:
        """Return the nodes of some operations, and those that arrange values only for them.

        Arithmetic on shapes is none of these. What arranges the operands of all of them may be
        left out, and what stands between two of them be taken in though others take it, too.
        """
        taken = {self.nodes[number] for number in numbers}
        arrangement = {*self.arrangement}
        pending = [*taken]
        while pending:
            for value in pending.pop().inputs:
                node = value.producer if value is not None else None
                if value is None or node is None or node in taken or node in self._numbers:
                    continue
                is_fit = node in arrangement or (node in self._inside and _follows_constants(node))
                giver = self.giver(self.source(value)) if node in arrangement else None
                is_between = giver is not None and giver in numbers
                if is_fit and not are_leading_in and node in arrangement:
                    is_fit = is_between
                if is_fit and ((is_between and are_shared) or _is_used_only_by(node, taken)):
                    taken.add(node)
                    pending.append(node)
        return tuple(sorted(taken, key=self.context.graph.index_of))

    def fixed(self, number: int) -> list[Value]:
        """Return the constants that an operation takes; scales and zero points are none."""
        return [v for v in list_data(self.nodes[number]) if v is not None and self.is_fixed(v)]

    def scalar(self, number: int) -> float | None:
        """Return the one number that an operation takes as a constant; None where unknown."""
        values = self.fixed(number)
        if len(values) != 1:
            return None
        node = self.nodes[number]
        for operand in list_quantized_operands(node):
            if not operand.is_output and node.input(operand.index) is values[0]:
                places = (operand.index, operand.scale, operand.zero_point)
                return read_quantized([node.input(at) for at in places if at is not None])
        return read_scalar(values[0])

    def is_closed(self, numbers: set[int], end: int) -> bool:
        """Return whether nothing outside takes results of some operations but those of the end."""
        return all(numbers.issuperset(self.users[n]) for n in numbers if n != end)


def _follows_constants(node: Node) -> bool:
    """Return whether what a node gives follows from constants alone, and not from shapes."""
    return all(value is None or is_input_independent(value) for value in node.inputs)


def _is_used_only_by(node: Node, users: Collection[Node]) -> bool:
    """Return whether nothing but some nodes takes what a node gives, and one of them does."""
    outputs = [value for value in node.outputs if value is not None]
    return any(value.users for value in outputs) and not any(
        value.is_output
        or len(value.users) > _MOST_USERS
        or any(user not in users and not user.operator.has("reads_shape") for user in value.users)
        for value in outputs
    )


def list_data(node: Node) -> Sequence[Value | None]:
    """Return the operands of a node that are no scales or zero points."""
    operands = node.operator.operands
    return [value for place, value in enumerate(node.inputs) if "." not in operands.at(place)]


@kept_with_catalogue(maxsize=1 << 14)
def _is_data(operator: Operator, place: int) -> bool:
    """Return whether an operand is computed with; others tell sizes, places, axes, limits, scales.

    What stands first always is.
    """
    if not place:
        return True
    role = operator.operands.at(place)
    return not ("." in role or role in _LIMITING or operator.arranges(place))
