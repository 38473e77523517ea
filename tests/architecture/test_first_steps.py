"""Parts of loops that the first step lacks: whether an exporter may have computed them before."""

from __future__ import annotations

import pytest

from netloupe.explorer.architecture.first_steps import needs_data
from netloupe.explorer.grouping import build_group_tree
from netloupe.explorer.grouping.loop_bodies import find_typical
from netloupe.explorer.model import Model
from tests.unrolled import WIDTH, Writer, call


def make_decoder(steps: int = 5, *, looks: bool = True) -> Model:
    """Return a cell whose steps but the first take what two layers make of the state.

    Parameters
    ----------
    steps
        How many there are.
    looks
        Whether the layers take what goes in, too, or the state alone.
    """
    writer = Writer()
    writer.inputs |= {"x": [2, WIDTH], "picture": [2, 2]}
    state = "x"
    for step in range(steps):
        seen = state
        if step:
            taken, width = ("picture", 2) if looks else (state, WIDTH)
            made = writer.add(
                *(call("eye/first", step - 1), "MatMul", taken, writer.weight("a", width, 1))
            )
            asked = writer.add(
                *(call("eye/second", step - 1), "MatMul", state, writer.weight("b", WIDTH, 1))
            )
            found = writer.add(call("eye", step - 1), "Add", made, asked)
            seen = writer.add("", "Add", state, found)
        moved = writer.add(call("cell/in", step), "MatMul", seen, writer.weight("c", WIDTH, WIDTH))
        held = writer.add(
            call("cell/state", step), "MatMul", state, writer.weight("d", WIDTH, WIDTH)
        )
        state = writer.add(call("cell", step), "Tanh", writer.add("", "Add", moved, held))
    writer.outputs.append(state)
    return writer.load()


@pytest.mark.parametrize("looks", [True, False])
def test_what_takes_data_in_each_step_was_not_computed_beforehand(*, looks: bool) -> None:
    model = make_decoder(looks=looks)
    tree = build_group_tree(model.graph)
    nodes = {node.name: node for node in model.graph.nodes}
    assert needs_data(tree, nodes["/eye/second_3/MatMul"]) == looks
    assert not needs_data(tree, nodes["/cell/state_4/MatMul"])


def test_a_step_that_is_as_most_others_is_shown() -> None:
    nodes = make_decoder().graph.nodes
    for sizes, expected in (((2, 2, 3), 0), ((1, 2, 3, 3, 4), 2), ((1, 2, 2, 2), 1), ((1, 2), 1)):
        assert find_typical([nodes[:size] for size in sizes]) == expected
