"""The parts of a latent diffusion model, of the depth of Stable Diffusion's."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional

from .exporting import export


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


class ImageResnetBlock(nn.Module):
    """Two convolutions around which the input flows."""

    def __init__(self, inner: int, outer: int) -> None:
        super().__init__()
        self.norm1 = nn.GroupNorm(4, inner)
        self.conv1 = nn.Conv2d(inner, outer, 3, padding=1)
        self.norm2 = nn.GroupNorm(4, outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, padding=1)
        self.conv_shortcut = nn.Conv2d(inner, outer, 1) if inner != outer else None

    def forward(self, x: Tensor) -> Tensor:
        h = self.conv1(functional.silu(self.norm1(x)))
        h = self.conv2(functional.silu(self.norm2(h)))
        return h + (x if self.conv_shortcut is None else self.conv_shortcut(x))


class PixelAttention(nn.Module):
    """Self attention of one head over the pixels of an image."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.group_norm = nn.GroupNorm(4, width)
        self.attention = Attention(width, width, heads=1)

    def forward(self, x: Tensor) -> Tensor:
        h = self.group_norm(x).flatten(2).transpose(1, 2)
        return x + self.attention(h).transpose(1, 2).reshape(x.shape)


class Decoder(nn.Module):
    """From latents to images: a middle, then four stages of three residual blocks."""

    def __init__(self, widths: tuple[int, ...] = (64, 64, 32, 16)) -> None:
        super().__init__()
        width = widths[0]
        self.post_quant_conv = nn.Conv2d(4, 4, 1)
        self.conv_in = nn.Conv2d(4, width, 3, padding=1)
        self.mid_block = nn.Sequential(
            ImageResnetBlock(width, width), PixelAttention(width), ImageResnetBlock(width, width)
        )
        self.up_blocks = nn.ModuleList()
        for number, outer in enumerate(widths):
            sizes = [(width, outer), (outer, outer), (outer, outer)]
            stage = nn.ModuleDict(
                {"resnets": nn.Sequential(*(ImageResnetBlock(*size) for size in sizes))}
            )
            if number < len(widths) - 1:
                stage["upsamplers"] = Upsample(outer)
            self.up_blocks.append(stage)
            width = outer
        self.conv_norm_out = nn.GroupNorm(4, width)
        self.conv_out = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, latents: Tensor) -> Tensor:
        x = self.mid_block(self.conv_in(self.post_quant_conv(latents)))
        for stage in self.up_blocks:
            for part in stage.values():
                x = part(x)
        return self.conv_out(functional.silu(self.conv_norm_out(x)))


def unet(dynamo: bool) -> onnx.ModelProto:
    inputs = {
        "sample": torch.ones(2, 4, 16, 16),
        "timestep": torch.tensor(3),
        "context": torch.ones(2, 7, 16),
    }
    return export(UNet(), inputs, ("out_sample",), dynamo)


def vae_decoder(dynamo: bool) -> onnx.ModelProto:
    axes = {"latents": {0: "batch"}}
    return export(Decoder(), {"latents": torch.rand(2, 4, 16, 16)}, ("sample",), dynamo, axes)


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {}
for _build in (unet, vae_decoder):
    MODELS[f"exported/{_build.__name__}.legacy"] = partial(_build, dynamo=False)
    MODELS[f"exported/{_build.__name__}.dynamo"] = partial(_build, dynamo=True)
