"""Networks that make images, and that learn without labels."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional

from .exporting import export


class Residual(nn.Module):
    """ReLU, a convolution of 3 and one of 1, and what came in."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(width, width // 4, 3, padding=1)
        self.conv2 = nn.Conv2d(width // 4, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv2(functional.relu(self.conv1(functional.relu(x))))


class VectorQuantizer(nn.Module):
    """Each vector becomes the one of a codebook that is nearest."""

    def __init__(self, codes: int, width: int) -> None:
        super().__init__()
        self.codebook = nn.Embedding(codes, width)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        batch, width, height, breadth = x.shape
        flat = x.permute(0, 2, 3, 1).reshape(-1, width)
        codes = self.codebook.weight
        distances = (
            flat.pow(2).sum(1, keepdim=True) - 2 * flat @ codes.T + codes.pow(2).sum(1)[None]
        )
        nearest = distances.argmin(1)
        found = self.codebook(nearest).view(batch, height, breadth, width).permute(0, 3, 1, 2)
        return found, nearest.view(batch, height, breadth)


class VQVAE(nn.Module):
    """van den Oord et al., Neural Discrete Representation Learning, 2017, section 4.1."""

    def __init__(self, width: int = 32, codes: int = 512) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, width // 2, 4, 2, 1),
            nn.ReLU(),
            nn.Conv2d(width // 2, width, 4, 2, 1),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1),
            Residual(width),
            Residual(width),
            nn.ReLU(),
        )
        self.pre_vq = nn.Conv2d(width, 16, 1)
        self.quantizer = VectorQuantizer(codes, 16)
        self.decoder = nn.Sequential(
            nn.Conv2d(16, width, 3, padding=1),
            Residual(width),
            Residual(width),
            nn.ReLU(),
            nn.ConvTranspose2d(width, width // 2, 4, 2, 1),
            nn.ReLU(),
            nn.ConvTranspose2d(width // 2, 3, 4, 2, 1),
        )

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        found, codes = self.quantizer(self.pre_vq(self.encoder(image)))
        return self.decoder(found), codes


class ModulatedConv(nn.Module):
    """A convolution whose weights a style scales, and which are then brought to one length."""

    def __init__(
        self, inner: int, outer: int, size: int, style: int, *, up: bool, norm: bool
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outer, inner, size, size))
        self.style = nn.Linear(style, inner)
        self.up, self.norm, self.size = up, norm, size

    def forward(self, x: Tensor, w: Tensor) -> Tensor:
        weight = self.weight * self.style(w)[0][None, :, None, None]
        if self.norm:
            weight = weight * torch.rsqrt(weight.pow(2).sum((1, 2, 3), keepdim=True) + 1e-8)
        if self.up:
            x = functional.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)
        return functional.conv2d(x, weight, padding=self.size // 2)


class StyledConv(nn.Module):
    """A modulated convolution, noise, bias and activation."""

    def __init__(self, inner: int, outer: int, style: int, *, up: bool = False) -> None:
        super().__init__()
        self.conv = ModulatedConv(inner, outer, 3, style, up=up, norm=True)
        self.noise_strength = nn.Parameter(torch.rand(1))
        self.bias = nn.Parameter(torch.rand(1, outer, 1, 1))

    def forward(self, x: Tensor, w: Tensor) -> Tensor:
        y = self.conv(x, w)
        noise = torch.randn_like(y[:, :1])
        return functional.leaky_relu(y + self.noise_strength * noise + self.bias, 0.2)


class StyleGAN2(nn.Module):
    """Karras et al., Analyzing and Improving StyleGAN, 2020, figure 2: 4 × 4 to 64 × 64."""

    def __init__(self, style: int = 32) -> None:
        super().__init__()
        mapping: list[nn.Module] = []
        for _ in range(8):
            mapping += [nn.Linear(style, style), nn.LeakyReLU(0.2)]
        self.mapping = nn.Sequential(*mapping)
        widths = [64, 64, 32, 16, 8]
        self.constant = nn.Parameter(torch.rand(1, widths[0], 4, 4))
        self.conv1 = StyledConv(widths[0], widths[0], style)
        self.convs, self.to_rgbs = nn.ModuleList(), nn.ModuleList()
        self.to_rgb1 = ModulatedConv(widths[0], 3, 1, style, up=False, norm=False)
        for inner, outer in itertools.pairwise(widths):
            self.convs.append(StyledConv(inner, outer, style, up=True))
            self.convs.append(StyledConv(outer, outer, style))
            self.to_rgbs.append(ModulatedConv(outer, 3, 1, style, up=False, norm=False))

    def forward(self, z: Tensor) -> Tensor:
        w = self.mapping(z * torch.rsqrt(z.pow(2).mean(1, keepdim=True) + 1e-8))
        x = self.conv1(self.constant, w)
        image = self.to_rgb1(x, w)
        for number, to_rgb in enumerate(self.to_rgbs):
            x = self.convs[2 * number + 1](self.convs[2 * number](x, w), w)
            image = functional.interpolate(
                image, scale_factor=2.0, mode="bilinear", align_corners=False
            )
            image = image + to_rgb(x, w)
        return image


class Critic(nn.Module):
    """Gulrajani et al., Improved Training of Wasserstein GANs, 2017: no norm over the batch."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for inner, outer in ((3, 8), (8, 16), (16, 32), (32, 64)):
            layers += [nn.Conv2d(inner, outer, 5, 2, 2), nn.LeakyReLU(0.2)]
            if inner > 3:
                layers.insert(-1, nn.GroupNorm(1, outer))
        self.layers, self.score = nn.Sequential(*layers), nn.Linear(64 * 16, 1)

    def forward(self, image: Tensor) -> Tensor:
        return self.score(self.layers(image).flatten(1))


class Twin(nn.Module):
    """Koch et al., Siamese Neural Networks, 2015: one tower for two images, and their distance."""

    def __init__(self) -> None:
        super().__init__()
        self.tower = nn.Sequential(
            nn.Conv2d(1, 8, 10),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 7),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 16, 4),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 4),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(32 * 36, 64),
            nn.Sigmoid(),
        )
        self.score = nn.Linear(64, 1)

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        return torch.sigmoid(self.score((self.tower(left) - self.tower(right)).abs()))


def vqvae() -> onnx.ModelProto:
    inputs = {"image": torch.rand(1, 3, 32, 32)}
    return export(VQVAE(), inputs, ("reconstruction", "codes"), dynamo=False)


def stylegan2() -> onnx.ModelProto:
    return export(StyleGAN2(), {"z": torch.rand(1, 32)}, ("image",), dynamo=False)


def wgan_critic() -> onnx.ModelProto:
    return export(Critic(), {"image": torch.rand(2, 3, 64, 64)}, ("score",), dynamo=True)


def siamese() -> onnx.ModelProto:
    inputs = {"left": torch.rand(1, 1, 105, 105), "right": torch.rand(1, 1, 105, 105)}
    return export(Twin(), inputs, ("same",), dynamo=True)


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "exported/vqvae.legacy": vqvae,
    "exported/stylegan2.legacy": stylegan2,
    "exported/wgan_critic.dynamo": wgan_critic,
    "exported/siamese.dynamo": siamese,
}
