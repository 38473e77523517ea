"""What attention does with a value: scores of one layer that the next one takes too."""

from __future__ import annotations

from netloupe.explorer.grouping import find_tree
from netloupe.explorer.view.attended import are_scores
from netloupe.explorer.view.value_names import name_passing_values
from tests.architecture.networks import Network


def test_scores_that_the_next_layer_adds_are_told() -> None:
    net = Network()
    x = net.take("x", (1, 16, 8))
    first, second = (
        net.add("MatMul", net.linear(x, 8, 8), net.add("Transpose", net.linear(x, 8, 8)))
        for _ in range(2)
    )
    both = net.add("Add", second, first)
    x, y = (net.add("MatMul", net.add("Softmax", one, axis=-1), x) for one in (first, both))
    model = net.finish(net.add("Add", x, y))
    values = {value.name: value for node in model.graph.nodes for value in node.outputs if value}
    tree = find_tree(model, model.graph)
    assert name_passing_values([values[first]], tree) == "scores"
    assert are_scores(values[both])
    assert not are_scores(values[x])


def test_logits_of_a_layer_and_masks_are_no_scores() -> None:
    net = Network()
    x, mask = net.take("x", (1, 16, 8)), net.take("mask", (1, 16, 8))
    logits = net.linear(x, 8, 8)
    bias = net.add("Mul", mask, mask)
    model = net.finish(net.add("Softmax", net.add("Add", logits, bias), axis=-1))
    values = {value.name: value for node in model.graph.nodes for value in node.outputs if value}
    assert not are_scores(values[logits])
    assert not are_scores(values[bias])
