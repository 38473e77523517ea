"""Networks that act: policies, values and plans."""

from __future__ import annotations

import math
from collections.abc import Callable

import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional

from .exporting import export


class ActorCritic(nn.Module):
    """Mnih et al., Human-level Control, 2015, with a policy and a value (Schulman et al., 2017)."""

    def __init__(self, actions: int = 6) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(4, 8, 8, 4),
            nn.ReLU(),
            nn.Conv2d(8, 16, 4, 2),
            nn.ReLU(),
            nn.Conv2d(16, 16, 3, 1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(16 * 7 * 7, 128),
            nn.ReLU(),
        )
        self.actor, self.critic = nn.Linear(128, actions), nn.Linear(128, 1)

    def forward(self, frames: Tensor) -> tuple[Tensor, Tensor]:
        x = self.features(frames / 255.0)
        return functional.softmax(self.actor(x), 1), self.critic(x)


class BoardBlock(nn.Module):
    """Two convolutions and what came in."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1, self.conv2 = (nn.Conv2d(width, width, 3, 1, 1) for _ in range(2))
        self.bn1, self.bn2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x))))) + x)


class AlphaZero(nn.Module):
    """Silver et al., Mastering the Game of Go, 2017: a tower of 19 blocks and two heads."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(17, width, 3, 1, 1), nn.BatchNorm2d(width), nn.ReLU())
        self.tower = nn.Sequential(*(BoardBlock(width) for _ in range(19)))
        self.policy_head = nn.Sequential(
            nn.Conv2d(width, 2, 1), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(722, 362)
        )
        self.value_head = nn.Sequential(
            nn.Conv2d(width, 1, 1),
            nn.BatchNorm2d(1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(361, 64),
            nn.ReLU(),
            nn.Linear(64, 1),
            nn.Tanh(),
        )

    def forward(self, board: Tensor) -> tuple[Tensor, Tensor]:
        x = self.tower(self.stem(board))
        return self.policy_head(x), self.value_head(x)


class StepConv(nn.Module):
    """Convolution, norm and Mish."""

    def __init__(self, inner: int, outer: int) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv1d(inner, outer, 5, padding=2), nn.GroupNorm(4, outer)

    def forward(self, x: Tensor) -> Tensor:
        return functional.mish(self.norm(self.conv(x)))


class ConditionedBlock(nn.Module):
    """Two convolutions; between them a scale and a shift made of the condition (FiLM)."""

    def __init__(self, inner: int, outer: int, condition: int) -> None:
        super().__init__()
        self.first, self.second = StepConv(inner, outer), StepConv(outer, outer)
        self.film = nn.Sequential(nn.Mish(), nn.Linear(condition, 2 * outer))
        self.residual = nn.Conv1d(inner, outer, 1) if inner != outer else nn.Identity()

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        scale, shift = self.film(condition)[:, :, None].chunk(2, 1)
        y = self.first(x) * scale + shift
        return self.second(y) + self.residual(x)


class DiffusionPolicy(nn.Module):
    """Chi et al., Diffusion Policy, 2023: a UNet over a sequence of actions, three levels."""

    def __init__(self, action: int = 7, observed: int = 20, step: int = 32) -> None:
        super().__init__()
        self.step_width = step
        widths = [16, 32, 64]
        self.step_encoder = nn.Sequential(
            nn.Linear(step, 4 * step), nn.Mish(), nn.Linear(4 * step, step)
        )
        condition = step + observed
        self.down, self.up = nn.ModuleList(), nn.ModuleList()
        inner = action
        for level, outer in enumerate(widths):
            last = level == len(widths) - 1
            self.down.append(
                nn.ModuleList(
                    [
                        ConditionedBlock(inner, outer, condition),
                        ConditionedBlock(outer, outer, condition),
                        nn.Identity() if last else nn.Conv1d(outer, outer, 3, 2, 1),
                    ]
                )
            )
            inner = outer
        self.mid = nn.ModuleList(ConditionedBlock(inner, inner, condition) for _ in range(2))
        for outer in (32, 16):
            self.up.append(
                nn.ModuleList(
                    [
                        ConditionedBlock(2 * inner, outer, condition),
                        ConditionedBlock(outer, outer, condition),
                        nn.ConvTranspose1d(outer, outer, 4, 2, 1),
                    ]
                )
            )
            inner = outer
        self.final = nn.Sequential(StepConv(16, 16), nn.Conv1d(16, action, 1))

    def forward(self, noisy: Tensor, step: Tensor, observation: Tensor) -> Tensor:
        half = self.step_width // 2
        rates = torch.exp(torch.arange(half) * (-math.log(10_000.0) / (half - 1)))
        angles = step[:, None].to(torch.float32) * rates[None]
        time = self.step_encoder(torch.cat([angles.sin(), angles.cos()], 1))
        condition = torch.cat([time, observation], 1)
        x, kept = noisy.transpose(1, 2), []
        for first, second, shrink in self.down:
            x = second(first(x, condition), condition)
            kept.append(x)
            x = shrink(x)
        for block in self.mid:
            x = block(x, condition)
        for first, second, grow in self.up:
            x = grow(second(first(torch.cat([x, kept.pop()], 1), condition), condition))
        return self.final(x).transpose(1, 2)


def actor_critic() -> onnx.ModelProto:
    inputs = {"frames": torch.rand(2, 4, 84, 84)}
    axes = {"frames": {0: "batch"}}
    return export(ActorCritic(), inputs, ("policy", "value"), dynamo=True, axes=axes)


def alphazero() -> onnx.ModelProto:
    return export(
        AlphaZero(), {"board": torch.rand(1, 17, 19, 19)}, ("policy", "value"), dynamo=False
    )


def diffusion_policy() -> onnx.ModelProto:
    inputs = {
        "noisy_actions": torch.rand(1, 16, 7),
        "step": torch.tensor([10]),
        "observation": torch.rand(1, 20),
    }
    return export(DiffusionPolicy(), inputs, ("noise",), dynamo=False)


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "exported/actor_critic.dynamo": actor_critic,
    "exported/alphazero.legacy": alphazero,
    "exported/diffusion_policy.legacy": diffusion_policy,
}
