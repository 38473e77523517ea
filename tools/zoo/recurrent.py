"""Recurrent layers and control flow."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import onnx
import torch
from torch import Tensor, nn

from .exporting import export


class Tagger(nn.Module):
    """A bidirectional LSTM under a GRU."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(100, 16)
        self.lstm = nn.LSTM(16, 12, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(24, 12, batch_first=True)
        self.classifier = nn.Linear(12, 5)

    def forward(self, tokens: Tensor) -> Tensor:
        x, _ = self.lstm(self.embedding(tokens))
        x, _ = self.gru(x)
        return self.classifier(x)


class Recurrence(nn.Module):
    """A loop with branches within branches, for TorchScript."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Linear(8, 8)
        self.again = nn.Linear(8, 8)

    def forward(self, x: Tensor, limit: Tensor) -> Tensor:
        h = x[0] * 0.0
        for step in range(x.size(0)):
            h = torch.tanh(self.enter(x[step]) + h)
            if bool(h.sum() > 0):
                h = self.again(h)
                if step > int(limit):
                    h = torch.relu(h)
            else:
                h = -h
        return h


class ConditionalScan(nn.Module):
    """A condition within a condition, then a scan over the rows."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        def add(total: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
            total = total + torch.tanh(row)
            return total, total.clone()

        def positive(x: Tensor) -> Tensor:
            return torch.cond(
                x.max() > 1, lambda x: self.a(x).relu(), lambda x: self.b(x).tanh(), (x,)
            )

        x = torch.cond(x.sum() > 0, positive, lambda x: x * 2, (x,))
        from torch._higher_order_ops.scan import scan

        _, rows = scan(add, torch.zeros(8), x)
        return rows


class LSTMCell(nn.Module):
    """A step of an LSTM, written out."""

    def __init__(self, inner: int, width: int) -> None:
        super().__init__()
        self.input_gates = nn.Linear(inner, 4 * width)
        self.state_gates = nn.Linear(width, 4 * width)

    def forward(self, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        gates = self.input_gates(x) + self.state_gates(h)
        enter, forget, candidate, leave = gates.chunk(4, 1)
        c = torch.sigmoid(forget) * c + torch.sigmoid(enter) * torch.tanh(candidate)
        return torch.sigmoid(leave) * torch.tanh(c), c


class GRUCell(nn.Module):
    """A step of a GRU, written out."""

    def __init__(self, inner: int, width: int) -> None:
        super().__init__()
        self.input_gates = nn.Linear(inner, 3 * width)
        self.state_gates = nn.Linear(width, 3 * width)

    def forward(self, x: Tensor, h: Tensor) -> Tensor:
        reset_x, update_x, new_x = self.input_gates(x).chunk(3, 1)
        reset_h, update_h, new_h = self.state_gates(h).chunk(3, 1)
        update = torch.sigmoid(update_x + update_h)
        new = torch.tanh(new_x + torch.sigmoid(reset_x + reset_h) * new_h)
        return (1 - update) * new + update * h


class LSTMSteps(nn.Module):
    """A cell applied to eight steps, one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = LSTMCell(8, 12)
        self.classifier = nn.Linear(12, 5)

    def forward(self, x: Tensor) -> Tensor:
        h = c = x.new_zeros(x.shape[0], 12)
        for step in range(8):
            h, c = self.cell(x[:, step], h, c)
        return self.classifier(h)


class GRUSteps(nn.Module):
    """A cell applied to eight steps, one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = GRUCell(8, 12)
        self.classifier = nn.Linear(12, 5)

    def forward(self, x: Tensor) -> Tensor:
        h = x.new_zeros(x.shape[0], 12)
        for step in range(8):
            h = self.cell(x[:, step], h)
        return self.classifier(h)


class StackedGRU(nn.Module):
    """Two GRUs, one over the other."""

    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(16, 16, num_layers=2, batch_first=True)
        self.classifier = nn.Linear(16, 5)

    def forward(self, x: Tensor) -> Tensor:
        x, _ = self.gru(x)
        return self.classifier(x)


def lstm(functions: bool) -> onnx.ModelProto:
    """Return recurrent layers, as one graph or each module as a function."""
    inputs = {"tokens": torch.ones(2, 9, dtype=torch.int64)}
    axes = {"tokens": {0: "batch", 1: "time"}}
    return export(Tagger(), inputs, ("logits",), False, axes, functions=functions)


def scripted() -> onnx.ModelProto:
    inputs = {"x": torch.ones(5, 2, 8), "limit": torch.tensor(3)}
    return export(torch.jit.script(Recurrence().eval()), inputs, ("h",), False)


def conditional_scan() -> onnx.ModelProto:
    return export(ConditionalScan(), {"x": torch.ones(4, 8)}, ("y",), True)


def lstm_cells(dynamo: bool) -> onnx.ModelProto:
    return export(LSTMSteps(), {"x": torch.rand(2, 8, 8)}, ("logits",), dynamo)


def gru_cells(dynamo: bool) -> onnx.ModelProto:
    return export(GRUSteps(), {"x": torch.rand(2, 8, 8)}, ("logits",), dynamo)


def gru(dynamo: bool) -> onnx.ModelProto:
    return export(StackedGRU(), {"x": torch.rand(2, 9, 16)}, ("logits",), dynamo)


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "exported/lstm.legacy": partial(lstm, functions=False),
    "exported/lstm.legacy-functions": partial(lstm, functions=True),
    "exported/scripted.legacy": scripted,
    "exported/condloop.dynamo": conditional_scan,
}
for _build in (lstm_cells, gru_cells, gru):
    MODELS[f"exported/{_build.__name__}.legacy"] = partial(_build, dynamo=False)
    MODELS[f"exported/{_build.__name__}.dynamo"] = partial(_build, dynamo=True)
