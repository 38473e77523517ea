"""Graphs whose edges come in as a table of pairs of nodes."""

from __future__ import annotations

import pytest
from onnx import TensorProto

from .networks import Network

_NODES = 12


class Graph(Network):
    """Layers of nodes that send to all others, where a table has an edge."""

    def __init__(self) -> None:
        super().__init__()
        self.x = self.linear(self.take("nodes", (1, _NODES, 6)), 6, 8)
        self.cells: tuple[str, str] | None = None

    def send(self, table: str, *, sums: bool = True) -> None:
        """Let nodes take the mean of what others send them."""
        spread = self.numbers(1, _NODES, _NODES, 8)
        own, other = (self.add("Unsqueeze", self.x, self.numbers(axis)) for axis in (2, 1))
        pair = [self.add("Expand", one, spread) for one in (own, other)]
        sent = self.linear(self.add("Concat", *pair, axis=-1), 16, 8)
        edges = self.add("Unsqueeze", table, self.numbers(3))
        kept = self.add("Mul", sent, edges)
        over = self.numbers(2)
        total = self.add("ReduceSum" if sums else "Relu", *([kept, over] if sums else [kept]))
        if not sums:
            total = self.add("Slice", total, self.numbers(0), self.numbers(1), self.numbers(2))
        total = self.add("Reshape", total, self.numbers(1, _NODES, 8))
        self.x = self.add("Relu", self.linear(total, 8, 8))

    def update(self, state: str, *, is_shared: bool = True) -> None:
        """Let a GRU cell mix what came in with the state before it."""
        if self.cells is None or not is_shared:
            self.cells = self.weight(8, 24), self.weight(8, 24)
        parts = self.numbers(8, 8, 8)
        gates = []
        for one, matrix in zip((self.x, state), self.cells, strict=True):
            made = self.add("Add", self.add("MatMul", one, matrix), self.weight(24))
            names = [f"{made}_{gate}" for gate in "rzn"]
            self.add("Split", made, parts, axis=2)
            del self.nodes[-1].output[:]
            self.nodes[-1].output.extend(names)
            gates.append(names)
        (ir, iz, inn), (hr, hz, hn) = gates
        r, z = (self.add("Sigmoid", self.add("Add", one, two)) for one, two in ((ir, hr), (iz, hz)))
        n = self.add("Tanh", self.add("Add", inn, self.add("Mul", hn, r)))
        self.x = self.add("Add", self.add("Mul", self.add("Sub", state, n), z), n)

    def tell(self) -> str:
        pooled = self.add("ReduceMean", self.x, self.numbers(1), keepdims=0)
        return self.finish(self.linear(pooled, 8, 3), shape=(1, 3)).architecture.sentence


def _tell(
    *, rounds: int = 3, sums: bool = True, taken: bool = True, gated: bool = False, cells: int = 1
) -> str:
    net = Graph()
    table = net.take("edges", (1, _NODES, _NODES)) if taken else net.weight(1, _NODES, _NODES)
    for _ in range(rounds):
        state = net.x
        net.send(table, sums=sums)
        if gated:
            net.update(state, is_shared=cells == 1)
    return net.tell()


@pytest.mark.parametrize("gated", [True, False])
def test_sums_of_what_a_table_keeps_are_messages(gated: bool) -> None:
    assert _tell(gated=gated).startswith("Message-passing network: ")


@pytest.mark.parametrize(
    "changed", [{"rounds": 1}, {"sums": False}, {"taken": False}], ids=["once", "no sum", "stored"]
)
def test_other_products_with_a_table_are_none(changed: dict[str, bool]) -> None:
    assert "Message-passing" not in _tell(**changed)  # type: ignore[arg-type]


def _step(*, between: str) -> str:
    """Return what is said of a cell that is called behind layers of its own, or behind one."""
    net = Graph()
    shared = net.weight(8, 8)
    for _ in range(4):
        state = net.x
        own = shared if between == "shared" else net.weight(8, 8)
        net.x = net.add("Relu", net.add("MatMul", net.x, own))
        net.update(state)
    return net.tell()


def test_a_cell_behind_layers_of_their_own_weights_is_no_recurrent_network() -> None:
    assert not _step(between="own").startswith("Recurrent network")
    assert _step(between="shared").startswith("Recurrent network")


@pytest.mark.parametrize(
    ("shape", "is_graph"), [((1, _NODES, _NODES), True), ((1, _NODES, 7), False)]
)
def test_attention_biased_by_numbers_of_pairs_is_of_a_graph(
    shape: tuple[int, ...], is_graph: bool
) -> None:
    net = Graph()
    far = net.take("far", shape, TensorProto.INT64)
    bias = net.add("Transpose", net.add("Gather", net.weight(9, 2), far), perm=[0, 3, 1, 2])
    if not is_graph:
        over = net.add("ReduceMean", bias, net.numbers(3))
        bias = over
    for _ in range(3):
        net.x = net.block(net.x, mask=bias)
    assert ("raph transformer: " in net.tell()) == is_graph
