"""Steps of a loop that lack a module say so, and modules that are called twice are known as one."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.model import Model
from netloupe.explorer.render.loop_words import tell_lacking_modules
from netloupe.explorer.render.picture import make_picture, render_picture
from netloupe.explorer.view import ViewOptions
from tests.architecture.test_modules import Named


class _Planner(Named):
    """Writes a network that predicts from a state, and one that gives the next state."""

    def __init__(self) -> None:
        super().__init__()
        self._stored: dict[str, str] = {}
        self._calls: dict[str, int] = {}

    def call(self, name: str, x: str, layers: int, width: int = 8) -> str:
        """Call a network again, with the weights that it had before."""
        start, count = len(self.nodes), self._calls.get(name, 0)
        self._calls[name] = count + 1
        for layer in range(layers):
            key = f"{name}.{layer}"
            if key not in self._stored:
                self._stored[key] = self.weight(width, width)
            x = self.add("Relu", self.add("MatMul", x, self._stored[key]))
            x = self.add("Add", x, self.add("Tanh", x))
        self.within(start, name if not count else f"{name}_{count}")
        return x


def _plan(steps: int, *, moves: int = 3) -> Model:
    """Return a plan of some steps, of which all but the first change the state before."""
    net = _Planner()
    state = net.call("representation", net.take("x", (1, 8)), 3)
    results = []
    for step in range(steps):
        if step:
            state = net.call("dynamics", state, moves)
        results.append(net.call("prediction", state, 3))
    return net.finish(net.add("Concat", *results, axis=0))


def _find_loop(model: Model) -> Group:
    pending = [build_group_tree(model.graph).root]
    while pending:
        group = pending.pop()
        if group.kind == "repeat" and group.is_loop:
            return group
        pending += group.inner_groups()
    raise AssertionError("there is no loop")


@pytest.mark.parametrize("steps", [3, 4, 6])
def test_a_first_step_without_a_module_says_so(steps: int) -> None:
    loop = _find_loop(_plan(steps))
    if len(loop.children) == steps:
        assert tell_lacking_modules(loop) == ["the first without dynamics"]
    else:  # it begins where all have it
        assert tell_lacking_modules(loop) == []


def test_equal_steps_say_nothing() -> None:
    net = _Planner()
    state = net.take("x", (1, 8))
    for _ in range(4):
        state = net.call("prediction", net.call("dynamics", state, 3), 3)
    assert tell_lacking_modules(_find_loop(net.finish(state))) == []


def test_a_module_of_which_a_part_was_computed_beforehand_is_there() -> None:
    """As a cell whose first state is zero, of which the product with that is left out."""
    net = _Planner()
    state = net.call("representation", net.take("x", (1, 8)), 3)
    results = []
    for step in range(4):
        state = net.call("dynamics", state, 3 if step else 1)
        results.append(net.call("prediction", state, 3))
    assert tell_lacking_modules(_find_loop(net.finish(net.add("Concat", *results, axis=0)))) == []


def test_a_layer_that_an_exporter_may_have_computed_is_no_module() -> None:
    assert tell_lacking_modules(_find_loop(_plan(4, moves=1))) == []


def _match(*, is_shared: bool) -> Model:
    """Return a network that two images go through, or two networks."""
    net = _Planner()
    left, right = net.take("left", (1, 8)), net.take("right", (1, 8))
    one = net.call("backbone", left, 4)
    two = net.call("backbone" if is_shared else "other", right, 4)
    start = len(net.nodes)
    given = net.linear(net.add("Concat", one, net.add("Exp", two), axis=1), 16, 4)
    net.within(start, "head")
    return net.finish(given)


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_network_that_is_drawn_twice_is_said_to_be_one(is_shared: bool) -> None:
    model = _match(is_shared=is_shared)
    groups = build_group_tree(model.graph).root.inner_groups()
    twins = [group.label for group in groups if group.has_twin]
    assert twins == (["backbone", "backbone_1"] if is_shared else [])
    picture = make_picture(model, ViewOptions.parse({}), deadline=600)
    drawn = render_picture(picture, "svg").decode()
    assert drawn.count(">shared weights<") == 2 * is_shared
