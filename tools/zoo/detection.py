"""A YOLO of the eighth generation, its smallest: CSP stages, a pyramid, heads without anchors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional

from .exporting import export_images


class Conv(nn.Module):
    """A convolution, its normalization and SiLU."""

    def __init__(self, inner: int, outer: int, kernel: int = 1, stride: int = 1) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inner, outer, kernel, stride, kernel // 2, bias=False)
        self.bn = nn.BatchNorm2d(outer)
        self.act = nn.SiLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.act(self.bn(self.conv(x)))


class Bottleneck(nn.Module):
    """Two convolutions, in the backbone with the input added."""

    def __init__(self, width: int, residual: bool) -> None:
        super().__init__()
        self.cv1, self.cv2 = Conv(width, width, 3), Conv(width, width, 3)
        self.residual = residual

    def forward(self, x: Tensor) -> Tensor:
        h = self.cv2(self.cv1(x))
        return x + h if self.residual else h


class CrossStage(nn.Module):
    """One half goes through bottlenecks; all that they return is joined (C2f)."""

    def __init__(self, inner: int, outer: int, count: int, residual: bool) -> None:
        super().__init__()
        self.half = outer // 2
        self.cv1 = Conv(inner, outer)
        self.m = nn.ModuleList([Bottleneck(self.half, residual) for _ in range(count)])
        self.cv2 = Conv((2 + count) * self.half, outer)

    def forward(self, x: Tensor) -> Tensor:
        parts = list(self.cv1(x).split((self.half, self.half), 1))
        for block in self.m:
            parts.append(block(parts[-1]))
        return self.cv2(torch.cat(parts, 1))


class PoolingPyramid(nn.Module):
    """The same pooling once, twice and three times, joined (SPPF)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.cv1, self.cv2 = Conv(width, width // 2), Conv(2 * width, width)
        self.m = nn.MaxPool2d(5, 1, 2)

    def forward(self, x: Tensor) -> Tensor:
        parts = [self.cv1(x)]
        for _ in range(3):
            parts.append(self.m(parts[-1]))
        return self.cv2(torch.cat(parts, 1))


class Join(nn.Module):
    """Channels one after the other."""

    def forward(self, *parts: Tensor) -> Tensor:
        return torch.cat(parts, 1)


class Detect(nn.Module):
    """Boxes as expected distances to four sides, and classes, for every cell of three scales."""

    bins = 16

    def __init__(self, widths: tuple[int, ...], classes: int, size: int) -> None:
        super().__init__()
        self.classes = classes
        inner = 4 * self.bins
        self.cv2 = nn.ModuleList(
            nn.Sequential(Conv(w, 16, 3), Conv(16, 16, 3), nn.Conv2d(16, inner, 1)) for w in widths
        )
        self.cv3 = nn.ModuleList(
            nn.Sequential(Conv(w, 20, 3), Conv(20, 20, 3), nn.Conv2d(20, classes, 1))
            for w in widths
        )
        cells, strides = [], []
        for stride in (8, 16, 32):
            middle = torch.arange(size // stride) + 0.5
            rows, columns = torch.meshgrid(middle, middle, indexing="ij")
            cells.append(torch.stack([columns.flatten(), rows.flatten()]))
            strides.append(torch.full((1, rows.numel()), float(stride)))
        self.register_buffer("cells", torch.cat(cells, 1)[None])
        self.register_buffer("strides", torch.cat(strides, 1))
        self.register_buffer("positions", torch.arange(self.bins).float()[None, :, None, None])

    def forward(self, *scales: Tensor) -> Tensor:
        found = [
            torch.cat([box(x), kind(x)], 1)
            for box, kind, x in zip(self.cv2, self.cv3, scales, strict=True)
        ]
        x = torch.cat([each.flatten(2) for each in found], 2)
        box, kind = x.split((4 * self.bins, self.classes), 1)
        chances = box.view(box.shape[0], 4, self.bins, -1).transpose(1, 2).softmax(1)
        before, after = (chances * self.positions).sum(1).chunk(2, 1)
        first, last = self.cells - before, self.cells + after
        box = torch.cat([(first + last) / 2, last - first], 1) * self.strides
        return torch.cat([box, functional.sigmoid(kind)], 1)


class Yolo(nn.Module):
    """Stages of 1, 2, 2 and 1 bottlenecks; a pyramid up and down again; three heads."""

    def __init__(self, size: int, width: int = 8, classes: int = 10) -> None:
        super().__init__()
        w = [width << number for number in range(5)]
        up = partial(nn.Upsample, scale_factor=2.0, mode="nearest")
        layers = [
            Conv(3, w[0], 3, 2),
            Conv(w[0], w[1], 3, 2),
            CrossStage(w[1], w[1], 1, True),
            Conv(w[1], w[2], 3, 2),
            CrossStage(w[2], w[2], 2, True),
            Conv(w[2], w[3], 3, 2),
            CrossStage(w[3], w[3], 2, True),
            Conv(w[3], w[4], 3, 2),
            CrossStage(w[4], w[4], 1, True),
            PoolingPyramid(w[4]),
            up(),
            Join(),
            CrossStage(w[4] + w[3], w[3], 1, False),
            up(),
            Join(),
            CrossStage(w[3] + w[2], w[2], 1, False),
            Conv(w[2], w[2], 3, 2),
            Join(),
            CrossStage(w[2] + w[3], w[3], 1, False),
            Conv(w[3], w[3], 3, 2),
            Join(),
            CrossStage(w[3] + w[4], w[4], 1, False),
            Detect((w[2], w[3], w[4]), classes, size),
        ]
        self.model = nn.ModuleList(layers)
        #: which outputs, beside the one before, a layer takes
        self.joined = {11: (6,), 14: (4,), 17: (12,), 20: (9,)}

    def forward(self, x: Tensor) -> Tensor:
        kept: list[Tensor] = []
        for number, layer in enumerate(self.model):
            if isinstance(layer, Detect):
                return layer(kept[15], kept[18], kept[21])
            x = layer(x, *(kept[other] for other in self.joined.get(number, ())))
            kept.append(x)
        return x


def yolo(dynamo: bool) -> onnx.ModelProto:
    return export_images(Yolo(256), 256, dynamo, ("output0",), batch=False)


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "exported/yolov8.legacy": partial(yolo, dynamo=False),
    "exported/yolov8.dynamo": partial(yolo, dynamo=True),
}
