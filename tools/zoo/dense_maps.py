"""Networks that give a map as large as the image, or several resolutions side by side."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional

from .exporting import export


def _conv(inner: int, outer: int, size: int = 3, stride: int = 1, dilation: int = 1) -> nn.Module:
    padding = (size // 2) * dilation
    return nn.Sequential(
        nn.Conv2d(inner, outer, size, stride, padding, dilation, bias=False),
        nn.BatchNorm2d(outer),
        nn.ReLU(),
    )


class Basic(nn.Module):
    """Two convolutions and what came in."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)

    def forward(self, x: Tensor) -> Tensor:
        y = functional.relu(self.bn1(self.conv1(x)))
        return functional.relu(self.bn2(self.conv2(y)) + x)


class Bottleneck(nn.Module):
    """Convolutions of 1, 3 and 1, and what came in."""

    def __init__(
        self, inner: int, width: int, stride: int = 1, dilation: int = 1, expansion: int = 4
    ) -> None:
        super().__init__()
        outer = expansion * width
        self.conv1 = nn.Conv2d(inner, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, dilation, dilation, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outer, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outer)
        self.downsample: nn.Module | None = None
        if stride > 1 or inner != outer:
            self.downsample = nn.Sequential(
                nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer)
            )

    def forward(self, x: Tensor) -> Tensor:
        y = functional.relu(self.bn1(self.conv1(x)))
        y = functional.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return functional.relu(y + (x if self.downsample is None else self.downsample(x)))


class Exchange(nn.Module):
    """A module of HRNet: four blocks in each lane, then every lane takes from all."""

    def __init__(self, widths: list[int]) -> None:
        super().__init__()
        self.branches = nn.ModuleList(
            nn.Sequential(*(Basic(width) for _ in range(4))) for width in widths
        )
        self.fuse = nn.ModuleList()
        for to, outer in enumerate(widths):
            layers = nn.ModuleList()
            for source, inner in enumerate(widths):
                if source == to:
                    layers.append(nn.Identity())
                elif source > to:
                    layers.append(
                        nn.Sequential(
                            nn.Conv2d(inner, outer, 1, bias=False),
                            nn.BatchNorm2d(outer),
                            nn.Upsample(scale_factor=2 ** (source - to), mode="nearest"),
                        )
                    )
                else:
                    steps = [_conv(inner, inner, 3, 2) for _ in range(to - source - 1)]
                    last = [nn.Conv2d(inner, outer, 3, 2, 1, bias=False), nn.BatchNorm2d(outer)]
                    layers.append(nn.Sequential(*steps, *last))
            self.fuse.append(layers)

    def forward(self, lanes: list[Tensor]) -> list[Tensor]:
        lanes = [branch(x) for branch, x in zip(self.branches, lanes, strict=True)]
        fused = []
        for layers in self.fuse:
            total = layers[0](lanes[0])
            for layer, lane in zip(layers[1:], lanes[1:], strict=True):
                total = total + layer(lane)
            fused.append(functional.relu(total))
        return fused


class HRNet(nn.Module):
    """Sun et al., Deep High-Resolution Representation Learning, 2019: lanes of the pose network."""

    def __init__(self, width: int = 8, joints: int = 17) -> None:
        super().__init__()
        widths = [width * 2**n for n in range(4)]
        self.stem = nn.Sequential(_conv(3, 16, 3, 2), _conv(16, 16, 3, 2))
        self.layer1 = nn.Sequential(Bottleneck(16, 8), *(Bottleneck(32, 8) for _ in range(3)))
        self.transition1 = nn.ModuleList([_conv(32, widths[0]), _conv(32, widths[1], 3, 2)])
        self.stage2 = nn.ModuleList([Exchange(widths[:2])])
        self.transition2 = _conv(widths[1], widths[2], 3, 2)
        self.stage3 = nn.ModuleList([Exchange(widths[:3]) for _ in range(4)])
        self.transition3 = _conv(widths[2], widths[3], 3, 2)
        self.stage4 = nn.ModuleList([Exchange(widths) for _ in range(3)])
        self.final_layer = nn.Conv2d(widths[0], joints, 1)

    def forward(self, image: Tensor) -> Tensor:
        x = self.layer1(self.stem(image))
        lanes = [transition(x) for transition in self.transition1]
        for module in self.stage2:
            lanes = module(lanes)
        lanes = [*lanes, self.transition2(lanes[-1])]
        for module in self.stage3:
            lanes = module(lanes)
        lanes = [*lanes, self.transition3(lanes[-1])]
        for module in self.stage4:
            lanes = module(lanes)
        return self.final_layer(lanes[0])


def _stage(inner: int, width: int, count: int, stride: int, dilation: int = 1) -> nn.Sequential:
    first = Bottleneck(inner, width, stride, dilation)
    return nn.Sequential(
        first, *(Bottleneck(4 * width, width, 1, dilation) for _ in range(count - 1))
    )


class AtrousPyramid(nn.Module):
    """Convolutions of several dilations and the mean of the image, beside each other."""

    def __init__(self, inner: int, outer: int) -> None:
        super().__init__()
        self.convs = nn.ModuleList(
            [_conv(inner, outer, 1), *(_conv(inner, outer, 3, 1, rate) for rate in (12, 24, 36))]
        )
        self.pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(inner, outer, 1), nn.ReLU())
        self.project = nn.Sequential(_conv(5 * outer, outer, 1), nn.Dropout(0.5))

    def forward(self, x: Tensor) -> Tensor:
        parts = [conv(x) for conv in self.convs]
        pooled = functional.interpolate(
            self.pool(x), x.shape[-2:], mode="bilinear", align_corners=False
        )
        return self.project(torch.cat([*parts, pooled], 1))


class DeepLabV3(nn.Module):
    """Chen et al., Rethinking Atrous Convolution, 2017, over a dilated ResNet-50."""

    def __init__(self, classes: int = 21) -> None:
        super().__init__()
        self.stem = nn.Sequential(_conv(3, 8, 7, 2), nn.MaxPool2d(3, 2, 1))
        self.layer1 = _stage(8, 8, 3, 1)
        self.layer2 = _stage(32, 16, 4, 2)
        self.layer3 = _stage(64, 32, 6, 1, 2)
        self.layer4 = _stage(128, 64, 3, 1, 4)
        self.aspp = AtrousPyramid(256, 32)
        self.head = nn.Sequential(_conv(32, 32), nn.Conv2d(32, classes, 1))

    def forward(self, image: Tensor) -> Tensor:
        x = self.stem(image)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        x = self.head(self.aspp(x))
        return functional.interpolate(x, image.shape[-2:], mode="bilinear", align_corners=False)


class NestedU(nn.Module):
    """A U of convolutions within a block: down to a dilated one, up again, and what came in."""

    def __init__(self, depth: int, inner: int, width: int, outer: int) -> None:
        super().__init__()
        self.enter = _conv(inner, outer)
        self.down = nn.ModuleList([_conv(outer, width)])
        self.down.extend(_conv(width, width) for _ in range(depth - 2))
        self.bottom = _conv(width, width, dilation=2)
        self.up = nn.ModuleList(_conv(2 * width, width) for _ in range(depth - 2))
        self.leave = _conv(2 * width, outer)

    def forward(self, x: Tensor) -> Tensor:
        entered = y = self.enter(x)
        kept = []
        for number, layer in enumerate(self.down):
            y = layer(y if number == 0 else functional.max_pool2d(y, 2, 2, ceil_mode=True))
            kept.append(y)
        y = self.bottom(y)
        for layer in [*self.up, self.leave]:
            skip = kept.pop()
            y = layer(torch.cat([_resize(y, skip), skip], 1))
        return y + entered


class FlatU(nn.Module):
    """The same without pooling: dilations grow in place of it."""

    def __init__(self, inner: int, width: int, outer: int) -> None:
        super().__init__()
        self.enter = _conv(inner, outer)
        self.down = nn.ModuleList(
            [_conv(outer, width), _conv(width, width, dilation=2), _conv(width, width, dilation=4)]
        )
        self.bottom = _conv(width, width, dilation=8)
        self.up = nn.ModuleList(
            [_conv(2 * width, width, dilation=4), _conv(2 * width, width, dilation=2)]
        )
        self.leave = _conv(2 * width, outer)

    def forward(self, x: Tensor) -> Tensor:
        entered = y = self.enter(x)
        kept = []
        for layer in self.down:
            y = layer(y)
            kept.append(y)
        y = self.bottom(y)
        for layer in [*self.up, self.leave]:
            y = layer(torch.cat([y, kept.pop()], 1))
        return y + entered


def _resize(x: Tensor, like: Tensor) -> Tensor:
    return functional.interpolate(x, like.shape[-2:], mode="bilinear", align_corners=False)


class U2Net(nn.Module):
    """Qin et al., U2-Net: Going Deeper with Nested U-Structure, 2020, figure 5."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList(
            [
                NestedU(7, 3, 4, 8),
                NestedU(6, 8, 4, 16),
                NestedU(5, 16, 8, 32),
                NestedU(4, 32, 16, 64),
                FlatU(64, 32, 64),
                FlatU(64, 32, 64),
            ]
        )
        self.up = nn.ModuleList(
            [
                FlatU(128, 32, 64),
                NestedU(4, 128, 16, 32),
                NestedU(5, 64, 8, 16),
                NestedU(6, 32, 4, 8),
                NestedU(7, 16, 4, 8),
            ]
        )
        self.sides = nn.ModuleList(nn.Conv2d(n, 1, 3, padding=1) for n in (64, 64, 32, 16, 8, 8))
        self.fuse = nn.Conv2d(6, 1, 1)

    def forward(self, image: Tensor) -> Tensor:
        x, kept = image, []
        for number, stage in enumerate(self.down):
            x = stage(x if number == 0 else functional.max_pool2d(x, 2, 2, ceil_mode=True))
            kept.append(x)
        kept.pop()
        maps = [self.sides[0](x)]
        for stage, side in zip(self.up, self.sides[1:], strict=True):
            skip = kept.pop()
            x = stage(torch.cat([_resize(x, skip), skip], 1))
            maps.append(side(x))
        maps = [_resize(one, image) for one in maps]
        return torch.sigmoid(self.fuse(torch.cat(maps, 1)))


def _image(network: nn.Module, output: str, size: int, dynamo: bool) -> onnx.ModelProto:
    return export(network, {"image": torch.rand(1, 3, size, size)}, (output,), dynamo)


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "exported/hrnet.legacy": lambda: _image(HRNet(), "heatmaps", 128, dynamo=False),
    "exported/deeplabv3.dynamo": lambda: _image(DeepLabV3(), "masks", 128, dynamo=True),
    "exported/u2net.legacy": lambda: _image(U2Net(), "saliency", 128, dynamo=False),
}
