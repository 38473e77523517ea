"""Loops that are found by the weights that all steps use, however an exporter wrote them out."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper

from netloupe.explorer.grouping import Group, find_tree
from netloupe.explorer.model import Model
from tests.unrolled import WIDTH, Writer, call

SIDE = 40  # equal matrices of so many rows and columns are one that is stored twice


def find_loops(model: Model) -> list[Group]:
    """Return the repeats right below the root."""
    root = find_tree(model, model.graph).root
    return [group for group in root.inner_groups() if group.kind == "repeat"]


def count_steps(model: Model) -> list[int]:
    """Return how many nodes each step of the only loop has."""
    (loop,) = find_loops(model)
    assert loop.is_loop
    return [step.node_count for step in loop.inner_groups()]


def list_beside(model: Model) -> list[str]:
    """Return the operators that stand right below the root."""
    root = find_tree(model, model.graph).root
    return [child.op_type for child in root.children if not isinstance(child, Group)]


def add_equal_weight(writer: Writer, name: str) -> str:
    """Add a matrix with the numbers of all others whose name is as long, and return its name."""
    elements = np.arange(SIDE * SIDE, dtype=np.float32).reshape(SIDE, SIDE) + len(name)
    writer.tensors.append(numpy_helper.from_array(elements, name))
    return name


def make_refiner(naming: str, *, steps: int = 4, copied: bool = False) -> Model:
    """Return an estimate that is put together with features and corrected at each step.

    Parameters
    ----------
    copied
        Whether the exporter wrote the weight of each call under another name.
    """
    side = SIDE if copied else WIDTH
    writer = Writer(naming)
    writer.inputs = {"x": [1, side], "start": [1, side]}
    features = writer.add("stem", "Tanh", writer.add("stem", "MatMul", "x", "stem"))
    writer.weight("stem", side, side)
    estimate = "start"
    for step in range(steps):
        taken = writer.add("", "Sub", features, estimate)
        for part in ("up", "down"):
            weight = (
                add_equal_weight(writer, f"onnx::MatMul_{part}_{step}")
                if copied
                else writer.weight(part, WIDTH, WIDTH)
            )
            taken = writer.add("", "Relu", writer.add(call(part, step), "MatMul", taken, weight))
        estimate = writer.add("", "Add", estimate, taken)
    writer.outputs = [writer.add("head", "MatMul", estimate, writer.weight("head", side, side))]
    return writer.load()


@pytest.mark.parametrize("naming", ["legacy", "plain"])
def test_steps_begin_where_the_first_one_begins(naming: str) -> None:
    model = make_refiner(naming)
    assert count_steps(model) == [6] * 4
    (loop,) = find_loops(model)
    assert loop.label == ("up, down" if naming == "legacy" else "step")
    first = loop.inner_groups()[0].children[0]
    assert not isinstance(first, Group)
    assert first.op_type == "Sub"


def test_weights_that_a_file_stores_for_each_call_are_the_same() -> None:
    assert count_steps(make_refiner("legacy", copied=True)) == [6] * 4


def test_equal_weights_are_not_the_same_where_no_name_says_so() -> None:
    """Layers that nobody has trained yet are copies of one another, and no loop."""
    repeats = find_loops(make_refiner("plain", copied=True))
    assert not any(repeat.is_loop or repeat.shares_weights for repeat in repeats)


def make_recurrence(naming: str, *, steps: int = 5, last: int = 0) -> Model:
    """Return a recurrence of which an exporter left out what is done with a state of zeros.

    Parameters
    ----------
    last
        So many nodes lead from each step to the next alone, behind what it gives; then the first
        one has a state, too.
    """
    writer = Writer(naming)
    writer.inputs = {f"x{step}": [1, WIDTH] for step in range(steps)} | {"start": [1, WIDTH]}
    state = "start" if last else ""
    for step in range(steps):
        taken = writer.add(call("in", step), "MatMul", f"x{step}", writer.weight("i", WIDTH, WIDTH))
        if state:
            kept = writer.add(
                call("state", step), "MatMul", state, writer.weight("s", WIDTH, WIDTH)
            )
            taken = writer.add("", "Add", taken, kept)
        state = writer.add("", "Tanh", taken)
        given = writer.add(call("out", step), "MatMul", state, writer.weight("o", WIDTH, WIDTH))
        writer.outputs.append(writer.add("", "Relu", given))
        for _ in range(last if step < steps - 1 else 0):
            state = writer.add("", "Sin", state)
    return writer.load()


@pytest.mark.parametrize("naming", ["legacy", "plain"])
def test_a_first_step_without_a_state_is_one_of_the_steps(naming: str) -> None:
    assert count_steps(make_recurrence(naming)) == [4, 6, 6, 6, 6]


def test_what_only_a_next_step_would_take_ends_a_step() -> None:
    assert count_steps(make_recurrence("plain", last=2)) == [8, 8, 8, 8, 6]


def make_fixed_point(steps: int = 5) -> Model:
    """Return an iteration whose first step, which begins with zeros, is computed for the most."""
    writer = Writer()
    writer.inputs = {"x": [1, WIDTH]}
    features = writer.add("inject", "MatMul", "x", writer.weight("inject", WIDTH, WIDTH))
    state = ""
    for step in range(steps):
        if state:
            state = writer.add(call("up", step), "MatMul", state, writer.weight("up", WIDTH, WIDTH))
            state = writer.add("", "Relu", state)
            state = writer.add(
                call("down", step), "MatMul", state, writer.weight("down", WIDTH, WIDTH)
            )
        else:
            state = writer.weight("folded", 1, WIDTH)
        state = writer.add("", "Add", features, state)
        scale = writer.weight("scale", WIDTH)
        shift = writer.weight("shift", WIDTH)
        norm = call("norm", step)
        state = writer.add(norm, "LayerNormalization", state, scale, shift)
    writer.outputs = [state]
    return writer.load()


def test_a_first_step_that_begins_in_the_middle_is_one_of_the_steps() -> None:
    assert count_steps(make_fixed_point()) == [2, 5, 5, 5, 5]


def make_planner(steps: int = 3) -> Model:
    """Return a state that a model moves on; a head reads it before the first move, too."""
    writer = Writer()
    writer.inputs = {"x": [1, WIDTH]} | {f"a{step}": [1, WIDTH] for step in range(steps)}
    state = writer.add("encode", "Tanh", "x")
    for step in range(steps + 1):
        if step:
            both = writer.add(call("move", step - 1), "Add", state, f"a{step - 1}")
            for number in range(3):
                weight = writer.weight(f"move.{number}", WIDTH, WIDTH)
                scope = call("move", step - 1)
                both = writer.add(f"{scope}/fc{number}", "MatMul", both, weight)
                both = writer.add(scope, "Relu", both)
            state = both
        given = state
        for number in range(3):
            weight = writer.weight(f"head.{number}", WIDTH, WIDTH)
            given = writer.add(f"{call('head', step)}/fc{number}", "MatMul", given, weight)
            given = writer.add(call("head", step), "Sigmoid", given)
        writer.outputs.append(given)
    return writer.load()


def test_what_is_called_once_more_than_there_are_steps_is_in_none() -> None:
    loop = next(loop for loop in find_loops(make_planner()) if loop.is_loop)
    assert (loop.label, [step.node_count for step in loop.inner_groups()]) == ("move", [7] * 3)


def make_grid(*, by_step: bool, steps: int = 4) -> Model:
    """Return two cells one above the other.

    Parameters
    ----------
    by_step
        Whether the program runs both at each step, else one after the other through all steps.
    """
    writer = Writer()
    writer.inputs = {f"x{step}": [1, WIDTH] for step in range(steps)} | {
        f"h{cell}": [1, WIDTH] for cell in range(2)
    }
    states = {cell: f"h{cell}" for cell in range(2)}
    given = {(-1, step): f"x{step}" for step in range(steps)}
    order = [(cell, step) for cell in range(2) for step in range(steps)]
    for cell, step in sorted(order, key=lambda at: at[1]) if by_step else order:
        scope = call("lower" if not cell else "upper", step)
        taken = given[cell - 1, step]
        for kind, value in (("x", taken), ("h", states[cell])):
            weight = writer.weight(f"{cell}.{kind}", WIDTH, WIDTH)
            taken = writer.add(f"{scope}/{kind}", "MatMul", value, weight)
            states[cell] = taken if kind == "h" else states[cell]
        both = writer.add(scope, "Add", given[cell - 1, step], states[cell])
        given[cell, step] = states[cell] = writer.add(scope, "Tanh", both)
    writer.outputs = [given[1, step] for step in range(steps)]
    return writer.load()


def test_cells_that_run_at_each_step_are_one_loop_and_others_are_several() -> None:
    (loop,) = find_loops(make_grid(by_step=True))
    assert (loop.is_loop, len(loop.children)) == (True, 4)
    several = find_loops(make_grid(by_step=False))
    assert [(loop.is_loop, len(loop.children)) for loop in several] == [(True, 4)] * 2


def make_shared_part(blocks: int = 4) -> Model:
    """Return a stack of layers with weights of their own, and one that all have in common."""
    writer = Writer()
    writer.inputs = {"x": [1, WIDTH]}
    value = "x"
    for block in range(blocks):
        own = writer.weight(f"own.{block}", WIDTH, WIDTH)
        value = writer.add(f"layers.{block}/mix", "MatMul", value, own)
        value = writer.add(f"layers.{block}", "Relu", value)
        shared = writer.weight("shared", WIDTH, WIDTH)
        value = writer.add(call("shared", block), "MatMul", value, shared)
        value = writer.add("", "Tanh", value)
    writer.outputs = [value]
    return writer.load()


def test_layers_that_share_a_part_of_their_weights_are_no_loop() -> None:
    assert not any(loop.is_loop for loop in find_loops(make_shared_part()))


def make_reader(steps: int = 5) -> Model:
    """Return a memory that each step writes to, and looks at in two places."""
    writer = Writer()
    writer.inputs = {"memory": [1, WIDTH], "x": [1, WIDTH]}
    memory, state = "memory", "x"
    for step in range(steps):
        size = writer.add("", "Exp", memory)  # of the memory that the step before wrote
        scope = call("control", step)
        for part in ("one", "two"):
            weight = writer.weight(part, WIDTH, WIDTH)
            state = writer.add(f"{scope}/{part}", "MatMul", state, weight)
            state = writer.add(scope, "Tanh", state)
        memory = writer.add("", "Add", memory, state)
        state = writer.add("", "Sub", writer.add("", "Div", state, size), memory)
    writer.outputs = [state]
    return writer.load()


def test_what_takes_from_a_step_and_gives_to_one_is_in_a_step() -> None:
    model = make_reader()
    assert count_steps(model) == [8] * 5
    assert list_beside(model) == []


def make_attention_decoder(steps: int = 5) -> Model:
    """Return a decoder that attends to features at each step and gives its weights, too."""
    writer = Writer()
    writer.inputs = {"features": [WIDTH, WIDTH], "start": [1, WIDTH]}
    square = WIDTH, WIDTH
    state = writer.add("init", "MatMul", "start", writer.weight("init", *square))
    given = []
    for step in range(steps):
        asked = writer.add(call("ask", step), "MatMul", state, writer.weight("ask", *square))
        scores = writer.add("", "MatMul", asked, "features")
        given.append(writer.add("", "Softmax", scores))
        taken = writer.add("", "MatMul", given[-1], "features")
        kept = writer.add(call("gate", step), "MatMul", state, writer.weight("gate", *square))
        joined = writer.add("", "Concat", taken, kept, axis=1)
        weight = writer.weight("cell", 2 * WIDTH, WIDTH)  # the largest, so looked at first
        cell = writer.add(call("cell", step), "MatMul", joined, weight)
        state = writer.add(call("cell", step), "Tanh", cell)
    collected = [writer.add("", "Unsqueeze", one, writer.weight("axes", 1)) for one in given]
    writer.outputs = [state, writer.add("", "Concat", *collected, axis=0)]
    return writer.load()


def make_location_decoder(steps: int = 4) -> Model:
    """Return a decoder that sees where it has looked, the first step with zeros for all it carries.

    What those give is computed beforehand, so that the first step begins with its scores.
    """
    writer = Writer()
    writer.inputs = {"features": [WIDTH, WIDTH], "asked": [1, WIDTH], "seen": [1, WIDTH]}
    square = WIDTH, WIDTH
    asked, seen, context, state, given = "asked", "seen", "", "", []
    for step in range(steps):
        if step:
            before = writer.add(
                call("pre", step - 1), "MatMul", state, writer.weight("pre", *square)
            )
            before = writer.add("", "Add", before, context)
            asked = writer.add(
                call("ask", step - 1), "MatMul", before, writer.weight("ask", *square)
            )
            where = writer.add(
                call("place", step - 1), "MatMul", seen, writer.weight("place", *square)
            )
            asked = writer.add("", "Add", asked, where)
        given.append(writer.add("", "Softmax", writer.add("", "MatMul", asked, "features")))
        context = writer.add("", "MatMul", given[-1], "features")
        if step < steps - 1:
            seen = writer.add("", "Add", seen, given[-1])
        weight = writer.weight("cell", WIDTH, 2 * WIDTH)  # the largest, so looked at first
        cell = writer.add(call("cell", step), "MatMul", context, weight)
        state = writer.add(call("cell", step), "Tanh", cell)
        state = writer.add(
            call("out", step), "MatMul", state, writer.weight("out", 2 * WIDTH, WIDTH)
        )
    writer.outputs = [state, writer.add("", "Concat", *given, axis=0)]
    return writer.load()


@pytest.mark.parametrize("steps", [3, 4, 6])
def test_each_step_of_a_decoder_begins_before_its_attention(steps: int) -> None:
    model = make_location_decoder(steps)
    counts = count_steps(model)
    assert len(counts) == steps
    assert len({*counts[1:-1]}) == 1
    assert {"Softmax", "MatMul"}.isdisjoint(list_beside(model))


def test_what_a_first_step_gives_beside_its_state_is_in_it() -> None:
    model = make_attention_decoder()
    assert count_steps(model) == [8] * 5
    assert "Softmax" not in list_beside(model)
