"""Convolutional classifiers of our own, with the stages of well-known ones and small widths."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional

from .exporting import export, export_images

# DenseNet-121


class DenseLayer(nn.Module):
    """A bottleneck whose output is concatenated to all that came before."""

    def __init__(self, channels: int, growth: int) -> None:
        super().__init__()
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv1 = nn.Conv2d(channels, 4 * growth, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(4 * growth)
        self.conv2 = nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False)

    def forward(self, *features: Tensor) -> Tensor:
        x = self.conv1(functional.relu(self.norm1(torch.cat(features, 1))))
        return self.conv2(functional.relu(self.norm2(x)))


class DenseBlock(nn.Module):
    """Layers that see the outputs of all layers before."""

    def __init__(self, count: int, channels: int, growth: int) -> None:
        super().__init__()
        for number in range(count):
            self.add_module(
                f"denselayer{number + 1}", DenseLayer(channels + number * growth, growth)
            )

    def forward(self, x: Tensor) -> Tensor:
        features = [x]
        for layer in self.children():
            features.append(layer(*features))
        return torch.cat(features, 1)


class Transition(nn.Sequential):
    """Half the channels, half the size."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU()
        self.conv = nn.Conv2d(channels, channels // 2, 1, bias=False)
        self.pool = nn.AvgPool2d(2)


class DenseNet(nn.Module):
    """Four blocks of 6, 12, 24 and 16 layers."""

    def __init__(self, growth: int = 4) -> None:
        super().__init__()
        channels = 2 * growth
        self.features = nn.Sequential()
        self.features.add_module("conv0", nn.Conv2d(3, channels, 7, 2, 3, bias=False))
        self.features.add_module("norm0", nn.BatchNorm2d(channels))
        self.features.add_module("relu0", nn.ReLU())
        self.features.add_module("pool0", nn.MaxPool2d(3, 2, 1))
        for number, count in enumerate((6, 12, 24, 16), 1):
            self.features.add_module(f"denseblock{number}", DenseBlock(count, channels, growth))
            channels += count * growth
            if number < 4:
                self.features.add_module(f"transition{number}", Transition(channels))
                channels //= 2
        self.features.add_module("norm5", nn.BatchNorm2d(channels))
        self.classifier = nn.Linear(channels, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = functional.relu(self.features(x))
        return self.classifier(torch.flatten(functional.adaptive_avg_pool2d(x, 1), 1))


# ResNet-50


class Bottleneck(nn.Module):
    """Three convolutions around which the input flows, projected where its shape changes."""

    def __init__(self, inner: int, width: int, stride: int) -> None:
        super().__init__()
        outer = 4 * width
        self.conv1 = nn.Conv2d(inner, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outer, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outer)
        self.relu = nn.ReLU()
        self.downsample: nn.Module | None = None
        if stride != 1 or inner != outer:
            projection = nn.Conv2d(inner, outer, 1, stride, bias=False)
            self.downsample = nn.Sequential(projection, nn.BatchNorm2d(outer))

    def forward(self, x: Tensor) -> Tensor:
        h = self.relu(self.bn1(self.conv1(x)))
        h = self.relu(self.bn2(self.conv2(h)))
        h = self.bn3(self.conv3(h))
        return self.relu(h + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    """Four stages of 3, 4, 6 and 3 bottlenecks."""

    def __init__(self, width: int = 8, depths: tuple[int, ...] = (3, 4, 6, 3)) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1, self.relu = nn.BatchNorm2d(width), nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        inner = width
        for number, depth in enumerate(depths):
            blocks = []
            for place in range(depth):
                stride = 2 if number and not place else 1
                blocks.append(Bottleneck(inner, width << number, stride))
                inner = 4 * (width << number)
            self.add_module(f"layer{number + 1}", nn.Sequential(*blocks))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(inner, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


# MobileNetV3


class SqueezeExcitation(nn.Module):
    """Channels weighed by what all pixels say."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        squeezed = max(channels // 4, 8)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        weights = functional.relu(self.fc1(self.avgpool(x)))
        return functional.hardsigmoid(self.fc2(weights)) * x


def norm_conv(
    inner: int,
    outer: int,
    kernel: int,
    stride: int = 1,
    groups: int = 1,
    activation: type[nn.Module] | None = None,
) -> nn.Sequential:
    """Return a convolution, its normalization and perhaps an activation."""
    conv = nn.Conv2d(inner, outer, kernel, stride, kernel // 2, groups=groups, bias=False)
    layers = [conv, nn.BatchNorm2d(outer)]
    return nn.Sequential(*layers, *([activation()] if activation else []))


class InvertedResidual(nn.Module):
    """Wide inside and narrow outside, with a depthwise convolution in the middle."""

    def __init__(
        self,
        inner: int,
        kernel: int,
        wide: int,
        outer: int,
        excites: bool,
        activation: type[nn.Module],
        stride: int,
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        if wide != inner:
            layers.append(norm_conv(inner, wide, 1, activation=activation))
        layers.append(norm_conv(wide, wide, kernel, stride, wide, activation))
        if excites:
            layers.append(SqueezeExcitation(wide))
        layers.append(norm_conv(wide, outer, 1))
        self.block = nn.Sequential(*layers)
        self.residual = stride == 1 and inner == outer

    def forward(self, x: Tensor) -> Tensor:
        return x + self.block(x) if self.residual else self.block(x)


#: kernel, expansion, channels, squeeze-and-excitation, hard swish, stride: table 1 of Howard et
#: al., Searching for MobileNetV3, 2019
MOBILENET_V3_LARGE = (
    (3, 16, 16, False, False, 1),
    (3, 64, 24, False, False, 2),
    (3, 72, 24, False, False, 1),
    (5, 72, 40, True, False, 2),
    (5, 120, 40, True, False, 1),
    (5, 120, 40, True, False, 1),
    (3, 240, 80, False, True, 2),
    (3, 200, 80, False, True, 1),
    (3, 184, 80, False, True, 1),
    (3, 184, 80, False, True, 1),
    (3, 480, 112, True, True, 1),
    (3, 672, 112, True, True, 1),
    (5, 672, 160, True, True, 2),
    (5, 960, 160, True, True, 1),
    (5, 960, 160, True, True, 1),
)


class MobileNetV3(nn.Module):
    """The fifteen blocks of the large one, a quarter as wide."""

    def __init__(self, part: int = 4) -> None:
        super().__init__()
        inner = 16 // part
        features = [norm_conv(3, inner, 3, 2, activation=nn.Hardswish)]
        for kernel, wide, outer, excites, swish, stride in MOBILENET_V3_LARGE:
            activation = nn.Hardswish if swish else nn.ReLU
            features.append(
                InvertedResidual(
                    inner, kernel, wide // part, outer // part, excites, activation, stride
                )
            )
            inner = outer // part
        last = 960 // part
        features.append(norm_conv(inner, last, 1, activation=nn.Hardswish))
        self.features = nn.Sequential(*features)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(last, 1280 // part), nn.Hardswish(), nn.Linear(1280 // part, 10)
        )

    def forward(self, x: Tensor) -> Tensor:
        x = self.avgpool(self.features(x))
        return self.classifier(torch.flatten(x, 1))


# images to images


class DoubleConv(nn.Sequential):
    """Two convolutions."""

    def __init__(self, inner: int, outer: int) -> None:
        super().__init__(
            *norm_conv(inner, outer, 3, activation=nn.ReLU),
            *norm_conv(outer, outer, 3, activation=nn.ReLU),
        )


class SegmentationUNet(nn.Module):
    """Four stages down and four up, joined by concatenation."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        widths = [width << number for number in range(5)]
        self.inc = DoubleConv(3, width)
        self.down = nn.ModuleList(
            nn.Sequential(nn.MaxPool2d(2), DoubleConv(inner, outer))
            for inner, outer in pairwise(widths)
        )
        widths.reverse()
        self.up = nn.ModuleList(
            nn.ModuleDict(
                {"up": nn.ConvTranspose2d(inner, outer, 2, 2), "conv": DoubleConv(inner, outer)}
            )
            for inner, outer in pairwise(widths)
        )
        self.outc = nn.Conv2d(width, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        skips = [self.inc(x)]
        for stage in self.down:
            skips.append(stage(skips[-1]))
        x = skips.pop()
        for stage in self.up:
            x = stage["conv"](torch.cat([skips.pop(), stage["up"](x)], 1))
        return self.outc(x)


class SubpixelNetwork(nn.Module):
    """Three convolutions, then channels become pixels: three times the size."""

    def __init__(self, scale: int = 3) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 64, 5, padding=2)
        self.conv2 = nn.Conv2d(64, 32, 3, padding=1)
        self.conv3 = nn.Conv2d(32, scale * scale, 3, padding=1)
        self.pixel_shuffle = nn.PixelShuffle(scale)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.tanh(self.conv2(torch.tanh(self.conv1(x))))
        return self.pixel_shuffle(self.conv3(x))


def densenet() -> onnx.ModelProto:
    axes = {"input": {0: "batch"}}
    return export(DenseNet(), {"input": torch.ones(1, 3, 224, 224)}, ("output",), False, axes)


def resnet50(dynamo: bool) -> onnx.ModelProto:
    """Return a ResNet-50; the older exporter leaves its normalizations."""
    return export_images(ResNet(), 224, dynamo, keep_norms=True)


def mobilenet_v3(dynamo: bool) -> onnx.ModelProto:
    """Return the large MobileNetV3; its normalizations become part of the convolutions."""
    return export_images(MobileNetV3(), 224, dynamo)


def segmentation_unet(dynamo: bool) -> onnx.ModelProto:
    return export_images(SegmentationUNet(), 128, dynamo)


def espcn(dynamo: bool) -> onnx.ModelProto:
    axes = {"luminance": {0: "batch", 2: "height", 3: "width"}}
    inputs = {"luminance": torch.rand(2, 1, 32, 48)}
    return export(SubpixelNetwork(), inputs, ("enlarged",), dynamo, axes)


_BOTH: dict[str, Callable[..., onnx.ModelProto]] = {
    "espcn": espcn,
    "mobilenetv3": mobilenet_v3,
    "resnet50": resnet50,
    "segmentation_unet": segmentation_unet,
}
MODELS: dict[str, Callable[[], onnx.ModelProto]] = {"exported/densenet.legacy": densenet}
for _name, _build in _BOTH.items():
    MODELS[f"exported/{_name}.legacy"] = partial(_build, dynamo=False)
    MODELS[f"exported/{_name}.dynamo"] = partial(_build, dynamo=True)
