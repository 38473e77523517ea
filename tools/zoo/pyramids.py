"""Detectors over several resolutions, and blocks of images beyond convolution and attention."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional

from .dense_maps import Bottleneck
from .exporting import export


def _stage(inner: int, width: int, count: int, stride: int) -> nn.Sequential:
    first = Bottleneck(inner, width, stride)
    return nn.Sequential(first, *(Bottleneck(4 * width, width) for _ in range(count - 1)))


class Tower(nn.Module):
    """Four convolutions and one that predicts, shared by all levels."""

    def __init__(self, width: int, outer: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for _ in range(4):
            layers += [nn.Conv2d(width, width, 3, padding=1), nn.ReLU()]
        self.layers, self.predict = nn.Sequential(*layers), nn.Conv2d(width, outer, 3, padding=1)
        self.outer = outer

    def forward(self, x: Tensor, each: int) -> Tensor:
        y = self.predict(self.layers(x))
        return y.permute(0, 2, 3, 1).reshape(y.shape[0], -1, each)


class RetinaNet(nn.Module):
    """Lin et al., Focal Loss for Dense Object Detection, 2017, figure 3, over a ResNet-50."""

    def __init__(self, classes: int = 20, anchors: int = 9, width: int = 16) -> None:
        super().__init__()
        self.classes = classes
        self.stem = nn.Sequential(
            nn.Conv2d(3, 8, 7, 2, 3, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, 1),
        )
        self.layer1, self.layer2 = _stage(8, 4, 3, 1), _stage(16, 8, 4, 2)
        self.layer3, self.layer4 = _stage(32, 16, 6, 2), _stage(64, 32, 3, 2)
        self.lateral = nn.ModuleList(nn.Conv2d(inner, width, 1) for inner in (32, 64, 128))
        self.smooth = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(3))
        self.p6 = nn.Conv2d(128, width, 3, 2, 1)
        self.p7 = nn.Conv2d(width, width, 3, 2, 1)
        self.class_head, self.box_head = (
            Tower(width, anchors * classes),
            Tower(width, anchors * 4),
        )

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        c3 = self.layer2(self.layer1(self.stem(image)))
        c4 = self.layer3(c3)
        c5 = self.layer4(c4)
        p5 = self.lateral[2](c5)
        p4 = self.lateral[1](c4) + functional.interpolate(p5, scale_factor=2.0)
        p3 = self.lateral[0](c3) + functional.interpolate(p4, scale_factor=2.0)
        levels = [smooth(p) for smooth, p in zip(self.smooth, (p3, p4, p5), strict=True)]
        p6 = self.p6(c5)
        levels += [p6, self.p7(functional.relu(p6))]
        scores = torch.cat([self.class_head(level, self.classes) for level in levels], 1)
        return scores.sigmoid(), torch.cat([self.box_head(level, 4) for level in levels], 1)


def _conv(inner: int, outer: int, size: int = 1, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inner, outer, size, stride, size // 2, bias=False),
        nn.BatchNorm2d(outer),
        nn.SiLU(),
    )


class CrossStage(nn.Module):
    """Wang et al., CSPNet, 2020: half of the channels goes through bottlenecks."""

    def __init__(self, inner: int, outer: int, count: int, *, residual: bool = True) -> None:
        super().__init__()
        half = outer // 2
        self.cv1, self.cv2, self.cv3 = _conv(inner, half), _conv(inner, half), _conv(outer, outer)
        self.m = nn.ModuleList(
            nn.Sequential(_conv(half, half), _conv(half, half, 3)) for _ in range(count)
        )
        self.residual = residual

    def forward(self, x: Tensor) -> Tensor:
        y = self.cv1(x)
        for block in self.m:
            y = y + block(y) if self.residual else block(y)
        return self.cv3(torch.cat([y, self.cv2(x)], 1))


class PyramidPool(nn.Module):
    """Three pools in a row, joined."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.cv1, self.cv2 = _conv(width, width // 2), _conv(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        parts = [self.cv1(x)]
        for _ in range(3):
            parts.append(functional.max_pool2d(parts[-1], 5, 1, 2))
        return self.cv2(torch.cat(parts, 1))


class YOLOX(nn.Module):
    """Ge et al., YOLOX, 2021: CSP stages of 3, 9, 9, 3, a pyramid up and down, decoupled heads."""

    def __init__(self, width: int = 8, classes: int = 20) -> None:
        super().__init__()
        w = [width * 2**n for n in range(5)]
        self.stem = _conv(12, w[0], 3)
        self.dark2 = nn.Sequential(_conv(w[0], w[1], 3, 2), CrossStage(w[1], w[1], 3))
        self.dark3 = nn.Sequential(_conv(w[1], w[2], 3, 2), CrossStage(w[2], w[2], 9))
        self.dark4 = nn.Sequential(_conv(w[2], w[3], 3, 2), CrossStage(w[3], w[3], 9))
        self.dark5 = nn.Sequential(
            _conv(w[3], w[4], 3, 2), PyramidPool(w[4]), CrossStage(w[4], w[4], 3, residual=False)
        )
        self.lateral5, self.reduce4 = _conv(w[4], w[3]), _conv(w[3], w[2])
        self.up4 = CrossStage(2 * w[3], w[3], 3, residual=False)
        self.up3 = CrossStage(2 * w[2], w[2], 3, residual=False)
        self.down3, self.down4 = _conv(w[2], w[2], 3, 2), _conv(w[3], w[3], 3, 2)
        self.pan4 = CrossStage(2 * w[2], w[3], 3, residual=False)
        self.pan5 = CrossStage(2 * w[3], w[4], 3, residual=False)
        self.heads = nn.ModuleList(DecoupledHead(inner, w[2], classes) for inner in w[2:])

    def forward(self, image: Tensor) -> Tensor:
        focus = torch.cat([image[..., a::2, b::2] for a, b in ((0, 0), (1, 0), (0, 1), (1, 1))], 1)
        c3 = self.dark3(self.dark2(self.stem(focus)))
        c4 = self.dark4(c3)
        p5 = self.lateral5(self.dark5(c4))
        p4 = self.reduce4(
            self.up4(torch.cat([functional.interpolate(p5, scale_factor=2.0), c4], 1))
        )
        n3 = self.up3(torch.cat([functional.interpolate(p4, scale_factor=2.0), c3], 1))
        n4 = self.pan4(torch.cat([self.down3(n3), p4], 1))
        n5 = self.pan5(torch.cat([self.down4(n4), p5], 1))
        found = [head(level) for head, level in zip(self.heads, (n3, n4, n5), strict=True)]
        return torch.cat(found, 2).transpose(1, 2)


class DecoupledHead(nn.Module):
    """Classes in one branch, boxes and objectness in the other."""

    def __init__(self, inner: int, width: int, classes: int) -> None:
        super().__init__()
        self.stem = _conv(inner, width)
        self.cls_convs = nn.Sequential(_conv(width, width, 3), _conv(width, width, 3))
        self.reg_convs = nn.Sequential(_conv(width, width, 3), _conv(width, width, 3))
        self.cls_pred, self.reg_pred = nn.Conv2d(width, classes, 1), nn.Conv2d(width, 4, 1)
        self.obj_pred = nn.Conv2d(width, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        y = self.stem(x)
        boxes = self.reg_convs(y)
        parts = [self.reg_pred(boxes), self.obj_pred(boxes).sigmoid()]
        return torch.cat([*parts, self.cls_pred(self.cls_convs(y)).sigmoid()], 1).flatten(2)


class PoolBlock(nn.Module):
    """Yu et al., MetaFormer is Actually What You Need, 2022, figure 2: pooling mixes tokens."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(1, width), nn.GroupNorm(1, width)
        self.pool = nn.AvgPool2d(3, 1, 1, count_include_pad=False)
        self.fc1, self.fc2 = nn.Conv2d(width, 4 * width, 1), nn.Conv2d(4 * width, width, 1)
        self.scale1, self.scale2 = (nn.Parameter(torch.rand(1, width, 1, 1)) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm1(x)
        x = x + self.scale1 * (self.pool(y) - y)
        return x + self.scale2 * self.fc2(functional.gelu(self.fc1(self.norm2(x))))


class PoolFormer(nn.Module):
    """S12 of the same paper: 2, 2, 6, 2 blocks."""

    def __init__(self) -> None:
        super().__init__()
        stages: list[nn.Module] = []
        inner = 3
        for outer, count, size, stride in (
            (8, 2, 7, 4),
            (16, 2, 3, 2),
            (40, 6, 3, 2),
            (64, 2, 3, 2),
        ):
            embed = nn.Conv2d(inner, outer, size, stride, size // 2)
            stages.append(nn.Sequential(embed, *(PoolBlock(outer) for _ in range(count))))
            inner = outer
        self.stages = nn.Sequential(*stages)
        self.norm, self.head = nn.GroupNorm(1, inner), nn.Linear(inner, 10)

    def forward(self, image: Tensor) -> Tensor:
        return self.head(self.norm(self.stages(image)).mean((2, 3)))


class InvertedResidual(nn.Module):
    """A wide convolution of each channel between two of all channels."""

    def __init__(self, inner: int, outer: int, stride: int = 1) -> None:
        super().__init__()
        self.expand, self.depthwise = (
            _conv(inner, 4 * inner),
            nn.Sequential(
                nn.Conv2d(4 * inner, 4 * inner, 3, stride, 1, groups=4 * inner, bias=False),
                nn.BatchNorm2d(4 * inner),
                nn.SiLU(),
            ),
        )
        self.reduce = nn.Sequential(
            nn.Conv2d(4 * inner, outer, 1, bias=False), nn.BatchNorm2d(outer)
        )
        self.adds = stride == 1 and inner == outer

    def forward(self, x: Tensor) -> Tensor:
        y = self.reduce(self.depthwise(self.expand(x)))
        return x + y if self.adds else y


class TokenBlock(nn.Module):
    """A transformer block before whose branches there is a norm."""

    def __init__(self, width: int, heads: int = 4) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.heads = heads
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc1, self.fc2 = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        scores = query @ key.transpose(2, 3) * (width // self.heads) ** -0.5
        y = (torch.softmax(scores, -1) @ value).transpose(1, 2).reshape(batch, length, width)
        x = x + self.proj(y)
        return x + self.fc2(functional.silu(self.fc1(self.norm2(x))))


class MobileViTBlock(nn.Module):
    """Mehta and Rastegari, MobileViT, 2022, figure 1b: attention between patches' equal pixels."""

    def __init__(self, inner: int, width: int, count: int) -> None:
        super().__init__()
        self.conv_local, self.conv_in = _conv(inner, inner, 3), nn.Conv2d(inner, width, 1)
        self.transformer = nn.Sequential(*(TokenBlock(width) for _ in range(count)))
        self.norm = nn.LayerNorm(width)
        self.conv_out, self.fusion = _conv(width, inner), _conv(2 * inner, inner, 3)

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv_in(self.conv_local(x))
        batch, width, height, breadth = y.shape
        y = y.view(batch * width * height // 2, 2, breadth // 2, 2).transpose(1, 2)
        y = y.reshape(batch, width, height * breadth // 4, 4).transpose(1, 3)
        y = self.norm(self.transformer(y.reshape(batch * 4, height * breadth // 4, width)))
        y = y.view(batch, 4, height * breadth // 4, width).transpose(1, 3)
        y = y.reshape(batch * width * height // 2, breadth // 2, 2, 2).transpose(1, 2)
        y = self.conv_out(y.reshape(batch, width, height, breadth))
        return self.fusion(torch.cat([x, y], 1))


class MobileViT(nn.Module):
    """XXS of the same paper: 2, 4 and 3 transformer blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = _conv(3, 8, 3, 2)
        self.stages = nn.Sequential(
            InvertedResidual(8, 8),
            InvertedResidual(8, 12, 2),
            InvertedResidual(12, 12),
            InvertedResidual(12, 12),
            InvertedResidual(12, 16, 2),
            MobileViTBlock(16, 32, 2),
            InvertedResidual(16, 24, 2),
            MobileViTBlock(24, 40, 4),
            InvertedResidual(24, 32, 2),
            MobileViTBlock(32, 48, 3),
            _conv(32, 128),
        )
        self.head = nn.Linear(128, 10)

    def forward(self, image: Tensor) -> Tensor:
        return self.head(self.stages(self.stem(image)).mean((2, 3)))


class Capsules(nn.Module):
    """Sabour et al., Dynamic Routing Between Capsules, 2017: three rounds of routing."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.primary = nn.Conv2d(1, 16, 9), nn.Conv2d(16, 32, 9, 2)
        self.votes = nn.Parameter(torch.rand(1, 144, 10, 16, 8) / 10)

    @staticmethod
    def _squash(x: Tensor) -> Tensor:
        size = x.pow(2).sum(-1, keepdim=True)
        return x * size / (1 + size) / torch.sqrt(size + 1e-8)

    def forward(self, digit: Tensor) -> Tensor:
        x = self.primary(functional.relu(self.conv1(digit)))
        x = self._squash(x.view(x.shape[0], 4, 8, 36).permute(0, 1, 3, 2).reshape(-1, 144, 8))
        votes = (self.votes @ x[:, :, None, :, None]).squeeze(-1)
        logits = torch.zeros_like(votes[..., :1])
        for number in range(3):
            weights = torch.softmax(logits, 2)
            found = self._squash((weights * votes).sum(1, keepdim=True))
            if number < 2:
                logits = logits + (votes * found).sum(-1, keepdim=True)
        return found.squeeze(1).pow(2).sum(-1).sqrt()


class FactoredConv(nn.Module):
    """A convolution of space, then one of time."""

    def __init__(self, inner: int, outer: int, middle: int, stride: int = 1) -> None:
        super().__init__()
        self.spatial = nn.Conv3d(
            inner, middle, (1, 3, 3), (1, stride, stride), (0, 1, 1), bias=False
        )
        self.bn = nn.BatchNorm3d(middle)
        self.temporal = nn.Conv3d(middle, outer, (3, 1, 1), (stride, 1, 1), (1, 0, 0), bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.temporal(functional.relu(self.bn(self.spatial(x))))


class VideoBlock(nn.Module):
    """Two factored convolutions and what came in."""

    def __init__(self, inner: int, outer: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = FactoredConv(inner, outer, 2 * outer, stride)
        self.conv2 = FactoredConv(outer, outer, 2 * outer)
        self.bn1, self.bn2 = nn.BatchNorm3d(outer), nn.BatchNorm3d(outer)
        self.downsample: nn.Module | None = None
        if stride > 1:
            self.downsample = nn.Sequential(
                nn.Conv3d(inner, outer, 1, stride, bias=False), nn.BatchNorm3d(outer)
            )

    def forward(self, x: Tensor) -> Tensor:
        y = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
        return functional.relu(y + (x if self.downsample is None else self.downsample(x)))


class VideoResNet(nn.Module):
    """Tran et al., A Closer Look at Spatiotemporal Convolutions, 2018: R(2+1)D of 18 layers."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv3d(3, 12, (1, 7, 7), (1, 2, 2), (0, 3, 3), bias=False),
            nn.BatchNorm3d(12),
            nn.ReLU(),
            nn.Conv3d(12, 8, (3, 1, 1), 1, (1, 0, 0), bias=False),
            nn.BatchNorm3d(8),
            nn.ReLU(),
        )
        self.layers = nn.Sequential(
            *(
                nn.Sequential(VideoBlock(inner, outer, stride), VideoBlock(outer, outer))
                for inner, outer, stride in ((8, 8, 1), (8, 16, 2), (16, 32, 2), (32, 64, 2))
            )
        )
        self.fc = nn.Linear(64, 12)

    def forward(self, clip: Tensor) -> Tensor:
        return self.fc(self.layers(self.stem(clip)).mean((2, 3, 4)))


def retinanet() -> onnx.ModelProto:
    inputs = {"image": torch.rand(1, 3, 128, 128)}
    return export(RetinaNet(), inputs, ("scores", "boxes"), dynamo=True)


def yolox() -> onnx.ModelProto:
    return export(YOLOX(), {"image": torch.rand(1, 3, 128, 128)}, ("predictions",), dynamo=False)


def poolformer() -> onnx.ModelProto:
    return export(PoolFormer(), {"image": torch.rand(1, 3, 128, 128)}, ("logits",), dynamo=False)


def mobilevit() -> onnx.ModelProto:
    return export(MobileViT(), {"image": torch.rand(1, 3, 128, 128)}, ("logits",), dynamo=True)


def capsules() -> onnx.ModelProto:
    return export(Capsules(), {"digit": torch.rand(1, 1, 28, 28)}, ("lengths",), dynamo=False)


def video_resnet() -> onnx.ModelProto:
    return export(VideoResNet(), {"clip": torch.rand(1, 3, 8, 64, 64)}, ("logits",), dynamo=True)


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "exported/retinanet.dynamo": retinanet,
    "exported/yolox.legacy": yolox,
    "exported/poolformer.legacy": poolformer,
    "exported/mobilevit.dynamo": mobilevit,
    "exported/capsules.legacy": capsules,
    "exported/r2plus1d.dynamo": video_resnet,
}
