"""Networks of our own for the zoo: the shapes of well-known ones, with small widths."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

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


# a diffusion U-Net with cross attention, of the depth of Stable Diffusion's


class ResnetBlock(nn.Module):
    """Two convolutions, told the time between them, around which the input flows."""

    def __init__(self, inner: int, outer: int, time: int) -> None:
        super().__init__()
        self.norm1 = nn.GroupNorm(4, inner)
        self.conv1 = nn.Conv2d(inner, outer, 3, padding=1)
        self.time_emb_proj = nn.Linear(time, outer)
        self.norm2 = nn.GroupNorm(4, outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, padding=1)
        self.conv_shortcut = nn.Conv2d(inner, outer, 1) if inner != outer else None

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        h = self.conv1(functional.silu(self.norm1(x)))
        h = h + self.time_emb_proj(functional.silu(time))[:, :, None, None]
        h = self.conv2(functional.silu(self.norm2(h)))
        return h + (x if self.conv_shortcut is None else self.conv_shortcut(x))


class Attention(nn.Module):
    """Multi-head attention over the sequence itself or over a given context."""

    def __init__(self, width: int, context: int, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(width, width, bias=False)
        self.to_k = nn.Linear(context, width, bias=False)
        self.to_v = nn.Linear(context, width, bias=False)
        self.to_out = nn.ModuleList([nn.Linear(width, width), nn.Dropout(0.0)])

    def forward(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        context = x if context is None else context
        q, k, v = (
            part.view(part.shape[0], part.shape[1], self.heads, -1).transpose(1, 2)
            for part in (self.to_q(x), self.to_k(context), self.to_v(context))
        )
        h = functional.scaled_dot_product_attention(q, k, v)
        h = h.transpose(1, 2).reshape(x.shape)
        for layer in self.to_out:
            h = layer(h)
        return h


class GatedGelu(nn.Module):
    """A linear layer whose output is gated by its other half."""

    def __init__(self, inner: int, outer: int) -> None:
        super().__init__()
        self.proj = nn.Linear(inner, 2 * outer)

    def forward(self, x: Tensor) -> Tensor:
        x, gate = self.proj(x).chunk(2, -1)
        return x * functional.gelu(gate)


class FeedForward(nn.Module):
    """The two linear layers of a transformer block."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.net = nn.ModuleList(
            [GatedGelu(width, 2 * width), nn.Dropout(0.0), nn.Linear(2 * width, width)]
        )

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.net:
            x = layer(x)
        return x


class TransformerBlock(nn.Module):
    """Self attention, cross attention and a feed-forward part."""

    def __init__(self, width: int, context: int) -> None:
        super().__init__()
        self.norm1, self.attn1 = nn.LayerNorm(width), Attention(width, width)
        self.norm2, self.attn2 = nn.LayerNorm(width), Attention(width, context)
        self.norm3, self.ff = nn.LayerNorm(width), FeedForward(width)

    def forward(self, x: Tensor, context: Tensor) -> Tensor:
        x = x + self.attn1(self.norm1(x))
        x = x + self.attn2(self.norm2(x), context)
        return x + self.ff(self.norm3(x))


class SpatialTransformer(nn.Module):
    """A transformer block over the pixels of an image."""

    def __init__(self, width: int, context: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(4, width)
        self.proj_in = nn.Conv2d(width, width, 1)
        self.transformer_blocks = nn.ModuleList([TransformerBlock(width, context)])
        self.proj_out = nn.Conv2d(width, width, 1)

    def forward(self, x: Tensor, context: Tensor) -> Tensor:
        batch, width, height, across = x.shape
        h = self.proj_in(self.norm(x))
        h = h.permute(0, 2, 3, 1).reshape(batch, height * across, width)
        for block in self.transformer_blocks:
            h = block(h, context)
        h = h.reshape(batch, height, across, width).permute(0, 3, 1, 2).contiguous()
        return self.proj_out(h) + x


class Downsample(nn.Module):
    """Half the size."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(x)


class Upsample(nn.Module):
    """Twice the size."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(functional.interpolate(x, scale_factor=2.0, mode="nearest"))


class Stage(nn.Module):
    """Residual blocks, each with attention or none, then perhaps a change of size."""

    def __init__(
        self,
        sizes: list[tuple[int, int]],
        time: int,
        context: int,
        attends: bool,
        resample: type[nn.Module] | None,
    ) -> None:
        super().__init__()
        width = sizes[-1][1]
        self.resnets = nn.ModuleList([ResnetBlock(*size, time) for size in sizes])
        self.attentions = nn.ModuleList(
            [SpatialTransformer(width, context) for _ in sizes] if attends else []
        )
        self.resamplers = nn.ModuleList([resample(width)] if resample else [])

    def forward(self, x: Tensor, time: Tensor, context: Tensor, skips: list[Tensor]) -> Tensor:
        """Take skips where they make up the width; otherwise leave them."""
        takes = self.resnets[0].conv1.in_channels != x.shape[1]
        for number, resnet in enumerate(self.resnets):
            x = resnet(torch.cat([x, skips.pop()], 1) if takes else x, time)
            if len(self.attentions):
                x = self.attentions[number](x, context)
            if not takes:
                skips.append(x)
        for resample in self.resamplers:
            x = resample(x)
            if not takes:
                skips.append(x)
        return x


class Middle(nn.Module):
    """A residual block on both sides of a transformer."""

    def __init__(self, width: int, time: int, context: int) -> None:
        super().__init__()
        self.resnets = nn.ModuleList([ResnetBlock(width, width, time) for _ in range(2)])
        self.attentions = nn.ModuleList([SpatialTransformer(width, context)])

    def forward(self, x: Tensor, time: Tensor, context: Tensor) -> Tensor:
        x = self.attentions[0](self.resnets[0](x, time), context)
        return self.resnets[1](x, time)


class UNet(nn.Module):
    """Four stages down, a middle, four stages up, each told the time and a context."""

    def __init__(self, widths: tuple[int, ...] = (16, 32, 64, 64), context: int = 16) -> None:
        super().__init__()
        time = 4 * widths[0]
        self.first = widths[0]
        self.time_embedding = nn.ModuleDict(
            {"linear_1": nn.Linear(widths[0], time), "linear_2": nn.Linear(time, time)}
        )
        self.conv_in = nn.Conv2d(4, widths[0], 3, padding=1)
        self.down_blocks, self.up_blocks = nn.ModuleList(), nn.ModuleList()
        skips, before, last = [widths[0]], widths[0], len(widths) - 1
        for number, width in enumerate(widths):
            sizes = [(before, width), (width, width)]
            resample = Downsample if number < last else None
            self.down_blocks.append(Stage(sizes, time, context, number < last, resample))
            skips += [width, width] + [width] * (number < last)
            before = width
        self.mid_block = Middle(before, time, context)
        for number, width in enumerate(reversed(widths)):
            sizes = []
            for _ in range(3):
                sizes.append((before + skips.pop(), width))
                before = width
            resample = Upsample if number < last else None
            self.up_blocks.append(Stage(sizes, time, context, number > 0, resample))
        self.conv_norm_out = nn.GroupNorm(4, before)
        self.conv_out = nn.Conv2d(before, 4, 3, padding=1)

    def forward(self, sample: Tensor, timestep: Tensor, context: Tensor) -> Tensor:
        half = self.first // 2
        frequencies = torch.exp(-math.log(10000) * torch.arange(half) / half)
        angles = timestep.expand(sample.shape[0])[:, None].float() * frequencies[None]
        time = torch.cat([angles.cos(), angles.sin()], -1)
        time = functional.silu(self.time_embedding["linear_1"](time))
        time = self.time_embedding["linear_2"](time)
        x = self.conv_in(sample)
        skips = [x]
        for block in self.down_blocks:
            x = block(x, time, context, skips)
        x = self.mid_block(x, time, context)
        for block in self.up_blocks:
            x = block(x, time, context, skips)
        return self.conv_out(functional.silu(self.conv_norm_out(x)))


# recurrent layers and control flow


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
