"""Networks of graphs and molecules, whose messages are gathered and scattered along edges."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional

from .exporting import export


def _sum_at(values: Tensor, index: Tensor, count: int) -> Tensor:
    """Return the sums of rows by the node that they lead to."""
    total = values.new_zeros(count, values.shape[1])
    return total.scatter_add(0, index[:, None].expand(-1, values.shape[1]), values)


class SAGELayer(nn.Module):
    """Hamilton et al., Inductive Representation Learning, 2017: the mean of neighbours."""

    def __init__(self, inner: int, outer: int) -> None:
        super().__init__()
        self.neighbours = nn.Linear(inner, outer)
        self.self = nn.Linear(inner, outer, bias=False)

    def forward(self, x: Tensor, source: Tensor, target: Tensor) -> Tensor:
        total = _sum_at(x[source], target, x.shape[0])
        degree = _sum_at(torch.ones_like(source)[:, None].to(x.dtype), target, x.shape[0])
        return self.neighbours(total / degree.clamp(min=1.0)) + self.self(x)


class GraphSAGE(nn.Module):
    """Three layers and a classifier of nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([SAGELayer(32, 64), SAGELayer(64, 64), SAGELayer(64, 64)])
        self.norms = nn.ModuleList(nn.LayerNorm(64) for _ in range(2))
        self.classifier = nn.Linear(64, 7)

    def forward(self, features: Tensor, edges: Tensor) -> Tensor:
        x = features
        for number, layer in enumerate(self.layers):
            x = layer(x, edges[0], edges[1])
            if number < 2:
                x = functional.relu(self.norms[number](x))
        return self.classifier(functional.relu(x))


class EquivariantLayer(nn.Module):
    """Satorras et al., E(n) Equivariant Graph Neural Networks, 2021, equations 3 to 6."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.edge_mlp = nn.Sequential(
            nn.Linear(2 * width + 1, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU()
        )
        self.coord_mlp = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))
        self.node_mlp = nn.Sequential(
            nn.Linear(2 * width, width), nn.SiLU(), nn.Linear(width, width)
        )

    def forward(
        self, h: Tensor, x: Tensor, source: Tensor, target: Tensor
    ) -> tuple[Tensor, Tensor]:
        difference = x[target] - x[source]
        distance = (difference * difference).sum(1, keepdim=True)
        message = self.edge_mlp(torch.cat([h[target], h[source], distance], 1))
        x = x + _sum_at(difference * self.coord_mlp(message), target, x.shape[0])
        collected = _sum_at(message, target, h.shape[0])
        return h + self.node_mlp(torch.cat([h, collected], 1)), x


class EGNN(nn.Module):
    """Seven layers over atoms, as for the energies of QM9."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Linear(15, width)
        self.layers = nn.ModuleList(EquivariantLayer(width) for _ in range(7))
        self.node_dec = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
        self.graph_dec = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, atoms: Tensor, positions: Tensor, bonds: Tensor) -> Tensor:
        h, x = self.embedding(atoms), positions
        for layer in self.layers:
            h, x = layer(h, x, bonds[0], bonds[1])
        # no energy depends on where the atoms have been moved to, but the last move is not lost
        h = self.node_dec(h)
        return self.graph_dec(h.sum(0, keepdim=True)) + 0.0 * x.sum()


def _shifted_softplus(x: Tensor) -> Tensor:
    return functional.softplus(x) - 0.6931471805599453


class Interaction(nn.Module):
    """Schütt et al., SchNet, 2017, figure 2: filters made of distances."""

    def __init__(self, width: int, radial: int) -> None:
        super().__init__()
        self.filter1, self.filter2 = nn.Linear(radial, width), nn.Linear(width, width)
        self.enter = nn.Linear(width, width, bias=False)
        self.dense1, self.dense2 = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x: Tensor, basis: Tensor, source: Tensor, target: Tensor) -> Tensor:
        filters = _shifted_softplus(self.filter2(_shifted_softplus(self.filter1(basis))))
        messages = self.enter(x)[source] * filters
        y = self.dense1(_sum_at(messages, target, x.shape[0]))
        return x + self.dense2(_shifted_softplus(y))


class SchNet(nn.Module):
    """Six interactions between atoms, and the sum of their energies."""

    def __init__(self, width: int = 32, radial: int = 50) -> None:
        super().__init__()
        self.embedding = nn.Embedding(100, width)
        self.register_buffer("centres", torch.linspace(0.0, 5.0, radial))
        self.interactions = nn.ModuleList(Interaction(width, radial) for _ in range(6))
        self.lin1, self.lin2 = nn.Linear(width, width // 2), nn.Linear(width // 2, 1)

    def forward(self, atoms: Tensor, positions: Tensor, pairs: Tensor) -> Tensor:
        distance = (positions[pairs[0]] - positions[pairs[1]]).pow(2).sum(1, keepdim=True).sqrt()
        basis = torch.exp(-10.0 * (distance - self.centres).pow(2))
        x = self.embedding(atoms)
        for interaction in self.interactions:
            x = interaction(x, basis, pairs[0], pairs[1])
        return self.lin2(_shifted_softplus(self.lin1(x))).sum(0)


def _ends(nodes: int, edges: int) -> Tensor:
    return torch.randint(0, nodes, (2, edges))


def graphsage() -> onnx.ModelProto:
    inputs = {"features": torch.rand(20, 32), "edges": _ends(20, 60)}
    return export(GraphSAGE(), inputs, ("logits",), dynamo=False)


def egnn() -> onnx.ModelProto:
    inputs = {"atoms": torch.rand(12, 15), "positions": torch.rand(12, 3), "bonds": _ends(12, 40)}
    return export(EGNN(), inputs, ("energy",), dynamo=True)


def schnet() -> onnx.ModelProto:
    inputs = {
        "atoms": torch.randint(0, 100, (12,)),
        "positions": torch.rand(12, 3),
        "pairs": _ends(12, 40),
    }
    return export(SchNet(), inputs, ("energy",), dynamo=False)


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "exported/graphsage.legacy": graphsage,
    "exported/egnn.dynamo": egnn,
    "exported/schnet.legacy": schnet,
}
