"""Stages whose blocks stand in lanes of several resolutions are told so."""

from __future__ import annotations

import numpy as np
import pytest

from netloupe.explorer.architecture import Architecture

from .networks import Network

_WIDTHS = (8, 16, 32, 64)


class Lanes(Network):
    """Writes modules in which each resolution has residual blocks and takes what others give."""

    scope = ""

    def add(self, op_type: str, *operands: str, **attributes: object) -> str:
        value = super().add(op_type, *operands, **attributes)
        self.nodes[-1].name = f"/{self.scope}/{op_type}_{len(self.nodes)}"
        return value

    def halve(self, x: str, taken: int, given: int) -> str:
        how = {"kernel_shape": [3, 3], "pads": [1] * 4, "strides": [2, 2]}
        return self.add("Conv", x, self.weight(given, taken, 3, 3), **how)

    def exchange(self, module: str, lanes: list[str], blocks: int) -> list[str]:
        for lane, width in zip(range(len(lanes)), _WIDTHS, strict=False):
            for block in range(blocks):
                self.scope = f"{module}/branches.{lane}/branches.{lane}.{block}"
                inner = self.add("Relu", self.conv(lanes[lane], width, width))
                inner = self.add("Add", self.conv(inner, width, width), lanes[lane])
                lanes[lane] = self.add("Relu", inner)
        self.scope = module
        given = []
        for lane, width in zip(range(len(lanes)), _WIDTHS, strict=False):
            total = lanes[lane]
            for other in range(lane):
                value = lanes[other]
                for step in range(other, lane):
                    value = self.halve(value, _WIDTHS[step], _WIDTHS[step + 1])
                total = self.add("Add", total, value)
            for other in range(lane + 1, len(lanes)):
                value = self.conv(lanes[other], _WIDTHS[other], width, 1)
                scale = float(2 ** (other - lane))
                total = self.add("Add", total, self.resize(value, scale))
            given.append(self.add("Relu", total))
        return given

    def resize(self, x: str, scale: float) -> str:
        return self.add("Resize", x, "", self.store(np.array([1, 1, scale, scale], np.float32)))


def tell(modules: tuple[int, ...], blocks: int = 2) -> Architecture:
    """Return what is said of modules that have so many lanes each."""
    net = Lanes()
    net.scope = "stem"
    lanes = [net.add("Relu", net.conv(net.take("x", (1, 3, 64, 64)), 3, _WIDTHS[0]))]
    for number, count in enumerate(modules):
        while len(lanes) < count:
            net.scope = f"transition{len(lanes)}"
            taken, given = _WIDTHS[len(lanes) - 1], _WIDTHS[len(lanes)]
            lanes.append(net.add("Relu", net.halve(lanes[-1], taken, given)))
        lanes = net.exchange(f"stages/stages.{number}", lanes, blocks)
    net.scope = "final"
    return net.finish(net.conv(lanes[0], _WIDTHS[0], 17, 1)).architecture


@pytest.mark.parametrize(
    ("modules", "said"),
    [
        ((2, 3, 4), "18 residual blocks in 2 to 4 lanes of 8, 16, 32 and 64 channels"),
        ((2, 3, 3, 4), "10 residual blocks in 2 to 3 lanes of 8, 16 and 32 channels, 14 residual"),
    ],
)
def test_blocks_in_lanes_are_told_with_all_widths(modules: tuple[int, ...], said: str) -> None:
    told = tell(modules).summary
    assert said in told
    assert " down" not in told


@pytest.mark.parametrize("modules", [(2, 3, 4), (3, 3, 3)])
def test_lanes_that_exchange_values_go_neither_down_nor_up(modules: tuple[int, ...]) -> None:
    assert "down and up" not in tell(modules).summary


def tell_waists(times: int) -> Architecture:
    """Return what is said of ways down and up without skips, one behind the other."""
    net = Lanes()
    value = net.conv(net.take("x", (1, 3, 64, 64)), 3, 8)
    for _ in range(times):
        for _ in range(2):
            value = net.add("Relu", net.halve(value, 8, 8))
        for _ in range(2):
            value = net.add("Relu", net.conv(net.resize(value, 2.0), 8, 8))
    return net.finish(net.conv(value, 8, 17, 1)).architecture


@pytest.mark.parametrize("times", [2, 3])
def test_ways_behind_each_other_go_down_and_up(times: int) -> None:
    assert f"down and up {times} times" in tell_waists(times).summary


def test_blocks_in_a_row_are_in_no_lanes() -> None:
    told = tell((1, 1, 1)).summary
    assert "residual blocks" in told
    assert "lanes" not in told
