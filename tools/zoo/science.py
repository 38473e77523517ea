"""Networks of physics and biology."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional

from .exporting import export


class Field(nn.Module):
    """Raissi et al., 2019, over Fourier features (Tancik et al., 2020), and its residual."""

    def __init__(self, width: int = 32, frequencies: int = 16) -> None:
        super().__init__()
        self.register_buffer("frequencies", torch.randn(3, frequencies))
        layers: list[nn.Module] = [nn.Linear(2 * frequencies, width), nn.Tanh()]
        for _ in range(7):
            layers += [nn.Linear(width, width), nn.Tanh()]
        self.layers, self.out = nn.Sequential(*layers), nn.Linear(width, 3)

    def forward(self, points: Tensor) -> Tensor:
        angles = 6.283185307179586 * points @ self.frequencies
        return self.out(self.layers(torch.cat([angles.sin(), angles.cos()], -1)))


class Dynamics(nn.Module):
    """What changes, given the time and the state."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width + 1, 64), nn.Linear(64, width)

    def forward(self, time: float, state: Tensor) -> Tensor:
        clock = state.new_full((state.shape[0], 1), time)
        return self.fc2(torch.tanh(self.fc1(torch.cat([state, clock], 1))))


class NeuralODE(nn.Module):
    """Chen et al., Neural Ordinary Differential Equations, 2018: ten steps of Runge and Kutta."""

    def __init__(self, width: int = 16, steps: int = 10) -> None:
        super().__init__()
        self.steps = steps
        self.encoder, self.dynamics = nn.Linear(28, width), Dynamics(width)
        self.head = nn.Linear(width, 10)

    def forward(self, x: Tensor) -> Tensor:
        state, size = self.encoder(x), 1.0 / self.steps
        for number in range(self.steps):
            time = number * size
            k1 = self.dynamics(time, state)
            k2 = self.dynamics(time + size / 2, state + size / 2 * k1)
            k3 = self.dynamics(time + size / 2, state + size / 2 * k2)
            k4 = self.dynamics(time + size, state + size * k3)
            state = state + size / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return self.head(state)


class SpectralConv(nn.Module):
    """Products with weights at the lowest frequencies; the transforms are matrices."""

    def __init__(self, width: int, modes: int, size: int) -> None:
        super().__init__()
        angles = torch.arange(size)[:, None] * torch.arange(modes)[None] * (6.2831853 / size)
        self.register_buffer("cosines", angles.cos())
        self.register_buffer("sines", angles.sin())
        self.real = nn.Parameter(torch.rand(modes, width, width) / width)
        self.imaginary = nn.Parameter(torch.rand(modes, width, width) / width)
        self.size = size

    def forward(self, x: Tensor) -> Tensor:
        real = (x @ self.cosines).permute(2, 0, 1)
        imaginary = -(x @ self.sines).permute(2, 0, 1)
        first = torch.bmm(real, self.real) - torch.bmm(imaginary, self.imaginary)
        second = torch.bmm(real, self.imaginary) + torch.bmm(imaginary, self.real)
        first, second = first.permute(1, 2, 0), second.permute(1, 2, 0)
        return (first @ self.cosines.T - second @ self.sines.T) * (2.0 / self.size)


class FourierOperator(nn.Module):
    """Li et al., Fourier Neural Operator, 2021, figure 2, in one dimension: four layers."""

    def __init__(self, width: int = 16, modes: int = 12, size: int = 64) -> None:
        super().__init__()
        self.lift = nn.Linear(2, width)
        self.spectral = nn.ModuleList(SpectralConv(width, modes, size) for _ in range(4))
        self.local = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(4))
        self.project1, self.project2 = nn.Linear(width, 64), nn.Linear(64, 1)

    def forward(self, field: Tensor) -> Tensor:
        x = self.lift(field).permute(0, 2, 1)
        for number, (spectral, local) in enumerate(zip(self.spectral, self.local, strict=True)):
            x = spectral(x) + local(x)
            if number < 3:
                x = functional.gelu(x)
        return self.project2(functional.gelu(self.project1(x.permute(0, 2, 1))))


class TriangleUpdate(nn.Module):
    """Jumper et al., AlphaFold, 2021, supplement, algorithm 11 or 12."""

    def __init__(self, width: int, *, outgoing: bool) -> None:
        super().__init__()
        self.outgoing = outgoing
        self.norm, self.norm_out = nn.LayerNorm(width), nn.LayerNorm(width)
        self.left, self.left_gate = nn.Linear(width, width), nn.Linear(width, width)
        self.right, self.right_gate = nn.Linear(width, width), nn.Linear(width, width)
        self.gate, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, pair: Tensor) -> Tensor:
        z = self.norm(pair)
        left = (torch.sigmoid(self.left_gate(z)) * self.left(z)).permute(2, 0, 1)
        right = (torch.sigmoid(self.right_gate(z)) * self.right(z)).permute(2, 0, 1)
        product = left @ right.transpose(1, 2) if self.outgoing else left.transpose(1, 2) @ right
        y = self.out(self.norm_out(product.permute(1, 2, 0)))
        return pair + torch.sigmoid(self.gate(z)) * y


class GatedAttention(nn.Module):
    """Attention along rows with a bias made of pairs, gated (algorithms 7 and 13)."""

    def __init__(self, width: int, heads: int, pair: int = 0) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.query, self.key, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.bias = nn.Linear(pair, heads, bias=False) if pair else None
        self.gate, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x: Tensor, pair: Tensor | None = None) -> Tensor:
        y = self.norm(x)
        rows, length, width = y.shape
        shape = (rows, length, self.heads, width // self.heads)
        query, key, value = (
            layer(y).view(shape).transpose(1, 2) for layer in (self.query, self.key, self.value)
        )
        scores = query @ key.transpose(2, 3) * (width // self.heads) ** -0.5
        if self.bias is not None and pair is not None:
            scores = scores + self.bias(pair).permute(2, 0, 1)
        y_out = (torch.softmax(scores, -1) @ value).transpose(1, 2).reshape(rows, length, width)
        return x + self.out(torch.sigmoid(self.gate(y)) * y_out)


class Transition(nn.Module):
    """Norm, two layers and what came in."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.fc2(functional.relu(self.fc1(self.norm(x))))


class EvoformerBlock(nn.Module):
    """Figure 3 of the same paper: an alignment and pairs of residues, each told of the other."""

    def __init__(self, width: int, pair: int) -> None:
        super().__init__()
        self.row_attention = GatedAttention(width, 4, pair)
        self.column_attention = GatedAttention(width, 4)
        self.msa_transition = Transition(width)
        self.outer_norm = nn.LayerNorm(width)
        self.outer_left, self.outer_right = nn.Linear(width, 8), nn.Linear(width, 8)
        self.outer_out = nn.Linear(64, pair)
        self.triangle_out = TriangleUpdate(pair, outgoing=True)
        self.triangle_in = TriangleUpdate(pair, outgoing=False)
        self.start_attention = GatedAttention(pair, 2, pair)
        self.end_attention = GatedAttention(pair, 2, pair)
        self.pair_transition = Transition(pair)

    def forward(self, msa: Tensor, pair: Tensor) -> tuple[Tensor, Tensor]:
        msa = self.row_attention(msa, pair)
        msa = self.column_attention(msa.transpose(0, 1)).transpose(0, 1)
        msa = self.msa_transition(msa)
        z = self.outer_norm(msa)
        rows, length, _ = z.shape
        left = self.outer_left(z).permute(1, 2, 0).reshape(length * 8, rows)
        right = self.outer_right(z).reshape(rows, length * 8)
        product = (left @ right).view(length, 8, length, 8).permute(0, 2, 1, 3)
        pair = pair + self.outer_out(product.reshape(length, length, 64) / rows)
        pair = self.triangle_in(self.triangle_out(pair))
        pair = self.start_attention(pair, pair)
        turned = pair.transpose(0, 1)
        pair = self.end_attention(turned, turned).transpose(0, 1)
        return msa, self.pair_transition(pair)


class Evoformer(nn.Module):
    """Eight of its 48 blocks, and the distances of residues."""

    def __init__(self, width: int = 32, pair: int = 16, blocks: int = 8) -> None:
        super().__init__()
        self.msa_embed, self.pair_embed = nn.Linear(23, width), nn.Linear(65, pair)
        self.blocks = nn.ModuleList(EvoformerBlock(width, pair) for _ in range(blocks))
        self.distances, self.masked = nn.Linear(pair, 64), nn.Linear(width, 23)

    def forward(self, msa: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        m, z = self.msa_embed(msa), self.pair_embed(positions)
        for block in self.blocks:
            m, z = block(m, z)
        return self.distances(z + z.transpose(0, 1)), self.masked(m)


def pinn() -> onnx.ModelProto:
    return export(Field(), {"points": torch.rand(5, 3)}, ("field",), dynamo=False)


def neural_ode() -> onnx.ModelProto:
    return export(NeuralODE(), {"x": torch.rand(2, 28)}, ("logits",), dynamo=True)


def fourier_operator() -> onnx.ModelProto:
    return export(FourierOperator(), {"field": torch.rand(1, 64, 2)}, ("solution",), dynamo=False)


def evoformer() -> onnx.ModelProto:
    inputs = {"msa": torch.rand(6, 20, 23), "positions": torch.rand(20, 20, 65)}
    return export(Evoformer(), inputs, ("distances", "masked_msa"), dynamo=True)


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "exported/pinn.legacy": pinn,
    "exported/neural_ode.dynamo": neural_ode,
    "exported/fno.legacy": fourier_operator,
    "exported/evoformer.dynamo": evoformer,
}
