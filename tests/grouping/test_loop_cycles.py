"""Loops of two states: several steps on one state, then one on the other, over and over."""

from __future__ import annotations

import onnx
import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.grouping.member_nodes import list_nodes_inside
from netloupe.explorer.model import Node
from netloupe.explorer.readers.load import load
from tests.fold_graph import read_raw
from tests.fold_numbers import judge_takes
from tests.grouping.test_tree import check_tree
from tests.unrolled import WIDTH, Writer


def make_recursion(
    *, cycles: int = 3, steps: int = 4, naming: str = "plain", injects: bool = True
) -> onnx.ModelProto:
    """Return steps of one network on a latent state, which an answer takes once in each cycle.

    Where nothing is injected, the answer is a step like all others.
    """
    writer = Writer(naming)
    writer.inputs = {name: [4, WIDTH] for name in ("x", "y", "z")}
    answer, latent = "y", "z"

    def run(value: str) -> str:
        for number in range(2):
            weight = writer.weight(f"net.{number}", WIDTH, WIDTH)
            inner = writer.add("net", "MatMul", value, weight)
            inner = writer.add("net", "Tanh", inner)
            value = writer.add("net", "Add", value, inner)
        return value

    for _ in range(cycles):
        if injects:
            given = writer.add("", "Add", answer, "x")
            for _ in range(steps):
                latent = run(writer.add("", "Add", latent, given))
            answer = run(writer.add("", "Add", answer, latent))
        else:
            for _ in range(steps + 1):
                answer = run(writer.add("", "Add", answer, "x"))
    writer.outputs = [answer]
    return writer.make()


def find_loops(group: Group) -> list[Group]:
    return [one for one in group.inner_groups() if one.kind == "repeat" and one.is_loop]


@pytest.mark.parametrize(("cycles", "steps"), [(3, 4), (2, 3), (4, 2)])
def test_steps_that_take_the_same_are_a_loop_in_each_cycle(cycles: int, steps: int) -> None:
    tree = build_group_tree(load(make_recursion(cycles=cycles, steps=steps)).graph)
    check_tree(tree)
    (outer,) = find_loops(tree.root)
    assert (outer.label, len(outer.children)) == ("cycle", cycles)
    for cycle in outer.inner_groups()[1:]:
        (inner,) = find_loops(cycle)
        assert (inner.label, len(inner.children)) == ("step", steps)
        # what all steps take is in the cycle, and in none of them
        first = cycle.children[0]
        assert isinstance(first, Node)
        assert first.op_type == "Add"


def test_steps_that_all_take_the_same_are_one_loop() -> None:
    (loop,) = find_loops(build_group_tree(load(make_recursion(injects=False)).graph).root)
    assert len(loop.children) == 15
    assert not any(map(find_loops, loop.inner_groups()))


@pytest.mark.parametrize("injects", [True, False])
def test_the_judge_finds_steps_that_do_not_take_the_same(*, injects: bool) -> None:
    made = make_recursion(injects=injects)
    raw = read_raw(made)
    # planted: each call of the network is a step of one loop
    ends = [n for n, node in enumerate(made.graph.node) if "net.1" in node.input]
    low, steps = 0, []
    for end in ends:
        steps.append(frozenset(range(low, end + 3)))
        low = end + 3
    assert (judge_takes(raw, steps) is not None) is injects
    (loop,) = find_loops(build_group_tree(load(made).graph).root)
    cycles = [frozenset(node.index for node in list_nodes_inside([step])) for step in loop.children]
    assert judge_takes(raw, cycles) is None
