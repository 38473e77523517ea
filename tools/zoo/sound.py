"""Networks that make or take apart sound."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional

from .exporting import export

_SLOPE = 0.1


class ResidualDilations(nn.Module):
    """Three pairs of convolutions of dilations 1, 3 and 5, each with what came in."""

    def __init__(self, width: int, kernel: int) -> None:
        super().__init__()
        self.convs1 = nn.ModuleList(
            nn.Conv1d(width, width, kernel, padding=rate * (kernel - 1) // 2, dilation=rate)
            for rate in (1, 3, 5)
        )
        self.convs2 = nn.ModuleList(
            nn.Conv1d(width, width, kernel, padding=(kernel - 1) // 2) for _ in range(3)
        )

    def forward(self, x: Tensor) -> Tensor:
        for first, second in zip(self.convs1, self.convs2, strict=True):
            x = second(functional.leaky_relu(first(functional.leaky_relu(x, _SLOPE)), _SLOPE)) + x
        return x


class HiFiGAN(nn.Module):
    """Kong et al., HiFi-GAN, 2020: rates 8, 8, 2, 2, kernels of 3, 7 and 11 side by side."""

    def __init__(self, bands: int = 80, width: int = 64) -> None:
        super().__init__()
        self.conv_pre = nn.Conv1d(bands, width, 7, padding=3)
        self.ups, self.resblocks = nn.ModuleList(), nn.ModuleList()
        for rate, kernel in ((8, 16), (8, 16), (2, 4), (2, 4)):
            self.ups.append(
                nn.ConvTranspose1d(width, width // 2, kernel, rate, (kernel - rate) // 2)
            )
            width //= 2
            self.resblocks.extend(ResidualDilations(width, size) for size in (3, 7, 11))
        self.conv_post = nn.Conv1d(width, 1, 7, padding=3)

    def forward(self, mel: Tensor) -> Tensor:
        x = self.conv_pre(mel)
        for number, up in enumerate(self.ups):
            x = up(functional.leaky_relu(x, _SLOPE))
            total = self.resblocks[3 * number](x)
            for block in self.resblocks[3 * number + 1 : 3 * number + 3]:
                total = total + block(x)
            x = total / 3
        return torch.tanh(self.conv_post(functional.leaky_relu(x)))


class Demucs(nn.Module):
    """Défossez et al., Music Source Separation in the Waveform Domain, 2019, figure 2."""

    def __init__(self, width: int = 8, depth: int = 6, sources: int = 4) -> None:
        super().__init__()
        self.sources = sources
        self.encoder, decoder = nn.ModuleList(), []
        inner = 2
        for level in range(depth):
            outer = width * 2**level
            self.encoder.append(
                nn.Sequential(
                    nn.Conv1d(inner, outer, 8, 4),
                    nn.ReLU(),
                    nn.Conv1d(outer, 2 * outer, 1),
                    nn.GLU(1),
                )
            )
            layers = [
                nn.Conv1d(outer, 2 * outer, 3, padding=1),
                nn.GLU(1),
                nn.ConvTranspose1d(outer, inner if level else 2 * sources, 8, 4),
            ]
            decoder.append(nn.Sequential(*layers, *([nn.ReLU()] if level else [])))
            inner = outer
        self.decoder = nn.ModuleList(reversed(decoder))
        self.lstm = nn.LSTM(inner, inner, 2, bidirectional=True)
        self.linear = nn.Linear(2 * inner, inner)

    def forward(self, mix: Tensor) -> Tensor:
        x, kept = mix, []
        for encode in self.encoder:
            x = encode(x)
            kept.append(x)
        x = self.linear(self.lstm(x.permute(2, 0, 1))[0]).permute(1, 2, 0)
        for decode in self.decoder:
            x = decode(x + kept.pop())
        return x.view(x.shape[0], self.sources, 2, x.shape[-1])


def hifigan() -> onnx.ModelProto:
    return export(HiFiGAN(), {"mel": torch.rand(1, 80, 32)}, ("waveform",), dynamo=False)


def demucs() -> onnx.ModelProto:
    # so long that every level down and up has whole frames
    length = 1
    for _ in range(6):
        length = (length - 1) * 4 + 8
    return export(Demucs(), {"mix": torch.rand(1, 2, length)}, ("sources",), dynamo=True)


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "exported/hifigan.legacy": hifigan,
    "exported/demucs.dynamo": demucs,
}
