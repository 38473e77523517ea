"""Blocks of convolutions that join are no stages of a chain; what takes turns is told so."""

from __future__ import annotations

import pytest

from .test_modules import Named


class _Rows(Named):
    """Modules of convolutions, numbered in a list."""

    def leave_outside(self, start: int) -> None:
        """Name nodes from a place on as an exporter does that are in no module."""
        for number, node in enumerate(self.nodes[start:], start):
            node.name = f"/{node.op_type}_{number}"

    def convolve(
        self, x: str, taken: int, *given: int, sizes: tuple[int, ...], step: int = 1
    ) -> str:
        """Add convolutions in a row; the second one halves the map where a step is 2."""
        for place, (width, size) in enumerate(zip(given, sizes, strict=True)):
            how = {"strides": [step, step]} if place == 1 and step > 1 else {}
            x = self.conv(self.add("Relu", x), taken, width, size, **how)
            taken = width
        return x

    def cut(self, x: str, start: int, end: int) -> str:
        return self.add("Slice", x, *map(self.numbers, (start, end, 1)))

    def dual(self, added: str, joined: str, widths: tuple[int, int], step: int) -> tuple[str, str]:
        """Add a dual-path block: one part of its result is added, another one joined.

        Y. Chen and others, Dual Path Networks, 2017, figure 2 (d).
        """
        width, grown = widths
        whole = self.add("Concat", added, joined, axis=1)
        if step > 1:
            made = self.conv(self.add("Relu", whole), width + grown, 24, 1, strides=[step, step])
            added, joined = self.cut(made, 0, 16), self.cut(made, 16, 24)
        y = self.convolve(whole, width + grown, 8, 8, 20, sizes=(1, 3, 1), step=step)
        added = self.add("Add", added, self.cut(y, 0, 16))
        return added, self.add("Concat", joined, self.cut(y, 16, 20), axis=1)


def _tell_dual(*counts: int) -> str:
    net = _Rows()
    x = net.conv(net.take("x", (1, 3, 64, 64)), 3, 24)
    net.within(0, "stem")
    added, joined = net.cut(x, 0, 16), net.cut(x, 16, 24)
    grown, number = 8, 0
    for stage, count in enumerate(counts):
        for place in range(count):
            start = len(net.nodes)
            step = 2 if stage and not place else 1
            added, joined = net.dual(added, joined, (16, grown), step)
            net.within(start, f"blocks.{number}")
            grown = (8 if step > 1 else grown) + 4
            number += 1
    whole = net.add("Concat", added, joined, axis=1)
    pooled = net.add("Flatten", net.add("GlobalAveragePool", whole))
    return net.finish(net.linear(pooled, 16 + grown, 10)).architecture.sentence


def test_blocks_that_join_are_counted_in_stages_that_begin_with_smaller_maps() -> None:
    told = _tell_dual(3, 4, 2)
    assert "stages of 3, 4, 2 dual-path blocks of convolutions" in told
    assert "9 blocks of 2 pointwise convolutions and 3×3 convolution" in _tell_dual(9)


def _tell_chain(*counts: int, is_dense: bool = False) -> str:
    net = _Rows()
    x, taken = net.conv(net.take("x", (1, 3, 64, 64)), 3, 8), 8
    for stage, count in enumerate(counts):
        start = len(net.nodes)
        given = (8 * (stage + 1),) * count
        y = net.convolve(x, taken, *given, sizes=(3,) * count)
        x, taken = (
            (net.add("Concat", x, y, axis=1), taken + given[-1]) if is_dense else (y, given[-1])
        )
        net.within(start, f"stages.{stage}")
        x = net.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    return net.finish(net.conv(x, taken, 2)).architecture.sentence


def test_convolutions_in_a_chain_are_no_blocks() -> None:
    assert "13 3×3 convolutions" in _tell_chain(2, 2, 3, 4)
    assert "blocks" not in _tell_chain(2, 2, 3, 4)


def test_what_goes_around_each_block_makes_no_stages() -> None:
    assert "stages of" not in _tell_chain(2, 3, 4, 3, is_dense=True)


def _alternate(*counts: int, is_each: bool = True) -> str:
    """Return what is said of steps, of which each stands before a module of convolutions."""
    net = _Rows()
    x, taken = net.conv(net.take("x", (1, 3, 32, 32)), 3, 8), 8
    net.within(0, "stem")
    for number, count in enumerate(counts):
        start = len(net.nodes)
        if is_each or number == 1:
            how = {"kernel_shape": [2, 2], "strides": [2, 2]}
            small = net.add("MaxPool", x, **how)
            net.nodes[-1].output.append(f"{small}_places")
            x = net.add("MaxUnpool", small, f"{small}_places", **how)
            net.leave_outside(start)
        start = len(net.nodes)
        given = 8 * (number + 1)
        for _ in range(count):
            x, taken = net.add("Relu", net.conv(x, taken, given)), given
        net.within(start, f"dec.{number}")
    x = net.conv(x, taken, 4)
    net.within(len(net.nodes) - 1, "head")
    return net.finish(x).architecture.sentence


@pytest.mark.parametrize("counts", [(3, 2, 2), (2, 3, 3, 2)])
def test_steps_and_modules_in_turn_are_told_together(counts: tuple[int, ...]) -> None:
    """V. Badrinarayanan and others, SegNet, 2017, figure 2."""
    told = _alternate(*counts)
    row = ", ".join(map(str, counts))
    behind = f"each behind one of {len(counts)} max unpoolings"
    way = " → ".join(str(8 * (number + 1)) for number in range(len(counts)))
    assert f"decoder (stages of {row} 3×3 convolutions {way} channels, {behind})" in told


def test_one_step_between_modules_takes_no_turns() -> None:
    assert "each behind" not in _alternate(3, 2, 2, 3, is_each=False)


def test_layers_before_blocks_are_told_before_them() -> None:
    """J. Zhu and others, CycleGAN, 2017, section 7.2."""
    net = _Rows()
    x, taken = net.take("x", (1, 3, 64, 64)), 3
    for number, (given, step) in enumerate(((8, 1), (16, 2), (32, 2))):
        start = len(net.nodes)
        x = net.add("Relu", net.conv(x, taken, given, 3, strides=[step, step]))
        net.within(start, f"model.{number}")
        taken = given
    for number in range(3, 9):
        start = len(net.nodes)
        y = net.conv(net.add("Relu", net.conv(x, 32, 32)), 32, 32)
        x = net.add("Add", x, y)
        net.within(start, f"model.{number}")
    told = net.finish(net.conv(x, 32, 3)).architecture.sentence
    assert told.index("→ 32 channels") < told.index("6 residual blocks of 32 channels")


def _branch(columns: int) -> str:
    """G. Larsson and others, FractalNet, 2017, figure 1."""
    net = _Rows()

    def join(x: str, depth: int) -> list[str]:
        first = [net.add("Relu", net.conv(x, 8, 8))]
        if depth == 1:
            return first
        inner = x
        for _ in range(2):
            made = join(inner, depth - 1)
            inner = made[0]
            for one in made[1:]:
                inner = net.add("Add", inner, one)
            if len(made) > 1:
                inner = net.add("Div", inner, net.weight())
        return [*first, inner]

    x = net.add("Relu", net.conv(net.take("x", (1, 3, 32, 32)), 3, 8))
    net.within(0, "stem")
    for number in range(3):
        start = len(net.nodes)
        made = join(x, columns)
        x = net.add("Add", *made)
        net.within(start, f"blocks.{number}")
    return net.finish(net.conv(x, 8, 2)).architecture.sentence


def test_layers_of_summed_branches_are_counted() -> None:
    assert "22 3×3 convolutions" in _branch(3)  # three blocks of seven, and the last one
