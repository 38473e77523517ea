"""Networks of tables, series and sets."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional

from .exporting import export


def _mlp(*widths: int, last: bool = True) -> nn.Sequential:
    layers: list[nn.Module] = []
    for inner, outer in itertools.pairwise(widths):
        layers += [nn.Linear(inner, outer), nn.ReLU()]
    return nn.Sequential(*(layers if last else layers[:-1]))


class DLRM(nn.Module):
    """Naumov et al., Deep Learning Recommendation Model, 2019: dot products of all pairs."""

    def __init__(self, tables: int = 8, width: int = 16) -> None:
        super().__init__()
        self.bot = _mlp(13, 64, 32, width)
        self.emb = nn.ModuleList(nn.Embedding(100 + 50 * n, width) for n in range(tables))
        pairs = (tables + 1) * tables // 2
        self.top = _mlp(width + pairs, 64, 32, 1, last=False)
        rows, columns = torch.tril_indices(tables + 1, tables + 1, -1)
        self.register_buffer("pairs", rows * (tables + 1) + columns)

    def forward(self, dense: Tensor, sparse: Tensor) -> Tensor:
        x = self.bot(dense)
        parts = [x] + [table(sparse[:, n]) for n, table in enumerate(self.emb)]
        features = torch.stack(parts, 1)
        products = torch.bmm(features, features.transpose(1, 2)).flatten(1)
        return torch.sigmoid(self.top(torch.cat([x, products[:, self.pairs]], 1)))


class FeatureLayer(nn.Module):
    """A fully connected layer, norm and gate."""

    def __init__(self, inner: int, outer: int, shared: nn.Linear | None = None) -> None:
        super().__init__()
        self.fc = shared or nn.Linear(inner, 2 * outer, bias=False)
        self.bn = nn.BatchNorm1d(2 * outer)

    def forward(self, x: Tensor) -> Tensor:
        return functional.glu(self.bn(self.fc(x)), 1)


class FeatureTransformer(nn.Module):
    """Two layers that all steps share and two of their own, each with what came in."""

    def __init__(self, inner: int, width: int, shared: nn.ModuleList) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            [
                FeatureLayer(inner, width, shared[0]),
                FeatureLayer(width, width, shared[1]),
                FeatureLayer(width, width),
                FeatureLayer(width, width),
            ]
        )

    def forward(self, x: Tensor) -> Tensor:
        x = self.layers[0](x)
        for layer in self.layers[1:]:
            x = (x + layer(x)) * 0.7071067811865476
        return x


class TabNet(nn.Module):
    """Arik and Pfister, TabNet, 2020, figure 4: three steps, each with a mask of features."""

    def __init__(self, features: int = 14, width: int = 8, steps: int = 3) -> None:
        super().__init__()
        self.width = width
        self.initial_bn = nn.BatchNorm1d(features)
        shared = nn.ModuleList(
            [
                nn.Linear(features, 4 * width, bias=False),
                nn.Linear(2 * width, 4 * width, bias=False),
            ]
        )
        self.initial = FeatureTransformer(features, 2 * width, shared)
        self.attentive = nn.ModuleList(
            nn.Sequential(nn.Linear(width, features, bias=False), nn.BatchNorm1d(features))
            for _ in range(steps)
        )
        self.transformers = nn.ModuleList(
            FeatureTransformer(features, 2 * width, shared) for _ in range(steps)
        )
        self.final = nn.Linear(width, 2, bias=False)

    def forward(self, features: Tensor) -> Tensor:
        x = self.initial_bn(features)
        attention = self.initial(x)[:, self.width :]
        prior: Tensor | float = 1.0
        total: Tensor | float = 0.0
        for attend, transform in zip(self.attentive, self.transformers, strict=True):
            mask = torch.softmax(attend(attention) * prior, 1)
            prior = prior * (1.3 - mask)
            y = transform(mask * x)
            total = total + functional.relu(y[:, : self.width])
            attention = y[:, self.width :]
        return self.final(total)


class SeriesBlock(nn.Module):
    """Four layers, then what is explained of the past and told of the future."""

    def __init__(self, past: int, future: int, width: int) -> None:
        super().__init__()
        self.layers = _mlp(past, width, width, width, width)
        self.backcast, self.forecast = nn.Linear(width, past), nn.Linear(width, future)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = self.layers(x)
        return self.backcast(y), self.forecast(y)


class NBeats(nn.Module):
    """Oreshkin et al., N-BEATS, 2020, figure 1, generic: 30 stacks of a block with four layers."""

    def __init__(self, past: int = 30, future: int = 6, width: int = 32) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(SeriesBlock(past, future, width) for _ in range(30))

    def forward(self, past: Tensor) -> Tensor:
        rest, total = past, None
        for block in self.blocks:
            backcast, forecast = block(rest)
            rest = rest - backcast
            total = forecast if total is None else total + forecast
        return total


class GatedResidual(nn.Module):
    """Lim et al., Temporal Fusion Transformers, 2019, equations 2 to 5."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, width), nn.Linear(width, width)
        self.gate, self.norm = nn.Linear(width, 2 * width), nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x + functional.glu(self.gate(self.fc2(functional.elu(self.fc1(x)))), -1))


class VariableSelection(nn.Module):
    """Weights for each variable, and the weighted sum of what each has been made into."""

    def __init__(self, variables: int, width: int) -> None:
        super().__init__()
        self.embed = nn.ModuleList(nn.Linear(1, width) for _ in range(variables))
        self.each = nn.ModuleList(GatedResidual(width) for _ in range(variables))
        self.weights = nn.Linear(variables * width, variables)

    def forward(self, x: Tensor) -> Tensor:
        embedded = [embed(x[..., n : n + 1]) for n, embed in enumerate(self.embed)]
        weights = torch.softmax(self.weights(torch.cat(embedded, -1)), -1)
        made = [each(one) for each, one in zip(self.each, embedded, strict=True)]
        return (torch.stack(made, -1) * weights.unsqueeze(-2)).sum(-1)


class FusionTransformer(nn.Module):
    """The same paper's figure 2, for four past and two known variables, three quantiles."""

    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.past_selection, self.known_selection = (
            VariableSelection(4, width),
            VariableSelection(2, width),
        )
        self.encoder = nn.LSTM(width, width, batch_first=True)
        self.decoder = nn.LSTM(width, width, batch_first=True)
        self.lstm_gate, self.lstm_norm = nn.Linear(width, 2 * width), nn.LayerNorm(width)
        self.enrichment = GatedResidual(width)
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.out = nn.Linear(width, width // heads), nn.Linear(width // heads, width)
        self.attention_gate, self.attention_norm = nn.Linear(width, 2 * width), nn.LayerNorm(width)
        self.feed_forward = GatedResidual(width)
        self.output_gate, self.output_norm = nn.Linear(width, 2 * width), nn.LayerNorm(width)
        self.quantiles = nn.Linear(width, 3)

    def _attend(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        shape = (batch, length, self.heads, width // self.heads)
        query = self.query(x).view(shape).transpose(1, 2)
        key = self.key(x).view(shape).transpose(1, 2)
        scores = query @ key.transpose(2, 3) / (width // self.heads) ** 0.5
        mask = torch.triu(torch.full((length, length), float("-inf")), 1)
        weights = torch.softmax(scores + mask, -1)
        # values are those of all heads, which are averaged
        return self.out((weights @ self.value(x).unsqueeze(1)).mean(1))

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        before, behind = self.past_selection(past), self.known_selection(known)
        encoded, state = self.encoder(before)
        decoded, _ = self.decoder(behind, state)
        selected = torch.cat([before, behind], 1)
        y = torch.cat([encoded, decoded], 1)
        temporal = self.lstm_norm(selected + functional.glu(self.lstm_gate(y), -1))
        enriched = self.enrichment(temporal)
        attended = self._attend(enriched)
        y = self.attention_norm(enriched + functional.glu(self.attention_gate(attended), -1))
        y = self.feed_forward(y)
        y = self.output_norm(temporal + functional.glu(self.output_gate(y), -1))
        return self.quantiles(y[:, past.shape[1] :])


class SetAttention(nn.Module):
    """Lee et al., Set Transformer, 2019, equations 6 and 7: multihead attention block."""

    def __init__(self, width: int, heads: int = 4) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.fc = nn.Linear(width, width)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        h = self.norm1(x + self.attention(x, y, y, need_weights=False)[0])
        return self.norm2(h + functional.relu(self.fc(h)))


class InducedAttention(nn.Module):
    """Learned points that take from the set, and the set that takes from them (equation 9)."""

    def __init__(self, width: int, points: int) -> None:
        super().__init__()
        self.points = nn.Parameter(torch.rand(1, points, width))
        self.take, self.give = SetAttention(width), SetAttention(width)

    def forward(self, x: Tensor) -> Tensor:
        return self.give(x, self.take(self.points.expand(x.shape[0], -1, -1), x))


class SetTransformer(nn.Module):
    """Two induced blocks, pooling by four seeds, two blocks, as for mixtures of Gaussians."""

    def __init__(self, width: int = 32, points: int = 16, seeds: int = 4) -> None:
        super().__init__()
        self.embed = nn.Linear(2, width)
        self.encoder = nn.ModuleList(InducedAttention(width, points) for _ in range(2))
        self.seeds = nn.Parameter(torch.rand(1, seeds, width))
        self.pool = SetAttention(width)
        self.decoder = nn.ModuleList(SetAttention(width) for _ in range(2))
        self.head = nn.Linear(width, 5)

    def forward(self, points: Tensor) -> Tensor:
        x = self.embed(points)
        for block in self.encoder:
            x = block(x)
        x = self.pool(self.seeds.expand(x.shape[0], -1, -1), x)
        for block in self.decoder:
            x = block(x, x)
        return self.head(x)


def dlrm() -> onnx.ModelProto:
    inputs = {"dense": torch.rand(2, 13), "sparse": torch.randint(0, 100, (2, 8))}
    axes = {"dense": {0: "batch"}, "sparse": {0: "batch"}}
    return export(DLRM(), inputs, ("click",), dynamo=False, axes=axes)


def tabnet() -> onnx.ModelProto:
    return export(TabNet(), {"features": torch.rand(4, 14)}, ("logits",), dynamo=False)


def nbeats() -> onnx.ModelProto:
    return export(NBeats(), {"past": torch.rand(2, 30)}, ("forecast",), dynamo=True)


def fusion_transformer() -> onnx.ModelProto:
    inputs = {"past": torch.rand(1, 24, 4), "known": torch.rand(1, 6, 2)}
    return export(FusionTransformer(), inputs, ("quantiles",), dynamo=False)


def set_transformer() -> onnx.ModelProto:
    return export(SetTransformer(), {"points": torch.rand(2, 40, 2)}, ("clusters",), dynamo=True)


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "exported/dlrm.legacy": dlrm,
    "exported/tabnet.legacy": tabnet,
    "exported/nbeats.dynamo": nbeats,
    "exported/tft.legacy": fusion_transformer,
    "exported/set_transformer.dynamo": set_transformer,
}
