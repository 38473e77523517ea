"""A layer that is used step by step on what it gave before, gated, is a recurrent one."""

from __future__ import annotations

import pytest

from .networks import Network


def make(steps: int, *, carries: bool = True, gates: bool = True) -> str:
    """Return what is said of convolutions and of a light gated unit whose steps are written out."""
    net = Network()
    x = net.take("image", (1, 3, steps, 16))
    x = net.add("Relu", net.conv(net.add("Relu", net.conv(x, 3, 8)), 8, 8))
    x = net.add("Relu", net.conv(x, 8, 1))
    first, again = net.weight(16, 16), net.weight(8, 16)
    state = net.weight(1, 8)
    given = []
    for step in range(steps):
        row = net.add("Slice", x, *map(net.numbers, (step, step + 1, 2)))
        row = net.add("MatMul", net.add("Reshape", row, net.numbers(1, 16)), first)
        taken = state if carries or not given else row
        if not carries:
            taken = net.add("Slice", row, *map(net.numbers, (0, 8, 1)))
        made = net.add("Add", row, net.add("MatMul", taken, again))
        gate, new = net.add("Split", made, axis=1, num_outputs=2), ""
        net.nodes[-1].output.append(f"{gate}b")
        new = net.add("Relu", f"{gate}b")
        if gates:
            share = net.add("Sigmoid", gate)
            new = net.add("Add", net.add("Mul", share, state), net.add("Mul", share, new))
        else:
            new = net.add("Add", gate, new)
        state = new if carries else state
        given.append(new)
    return net.finish(net.add("Concat", *given, axis=0)).architecture.sentence


def test_what_is_carried_and_gated_in_many_steps_is_recurrent() -> None:
    assert "etwork of convolutions and recurrent layers: " in make(20)


@pytest.mark.parametrize(
    ("steps", "carries", "gates"), [(5, True, True), (20, False, True), (20, True, False)]
)
def test_others_are_not(steps: int, carries: bool, gates: bool) -> None:
    assert "recurrent" not in make(steps, carries=carries, gates=gates).split(":")[0]
