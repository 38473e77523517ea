"""What is said of outputs holds for the sizes that the file states."""

from __future__ import annotations

import pytest

from .networks import Network, Shape


def detect(*, rows: bool, name: str = "boxes") -> str:
    """Return what is said of a convolution whose places are put in a row, or are not."""
    net = Network()
    x = net.take("image", (1, 3, 16, 16))
    for taken in (3, 8, 8):
        x = net.add("Relu", net.conv(x, taken, 8))
    x = net.conv(x, 8, 12)
    shape: Shape = (1, 12, 16, 16)
    if rows:
        x = net.add("Transpose", x, perm=[0, 2, 3, 1])
        x, shape = net.add("Reshape", x, net.numbers(1, -1, 4)), (1, 768, 4)
    x = net.add("Identity", x)
    net.nodes[-1].output[0] = name
    return net.finish(name, shape=shape).architecture.sentence


def test_places_in_a_row_are_no_map() -> None:
    assert detect(rows=False).endswith("12 channels out (boxes).")
    assert detect(rows=True).endswith("gives boxes (768 × 4).")
    assert "out" not in detect(rows=True, name="t17").rpartition("channels")[2]


@pytest.mark.parametrize("width", [5, 1])
@pytest.mark.parametrize("places", [True, False])
def test_features_of_each_place_are_told_from_those_of_all(width: int, places: bool) -> None:
    net = Network()
    x = net.block(net.block(net.linear(net.take("x", (1, 7, 6)), 6, 8)))
    if not places:
        x = net.add("ReduceMean", x, net.numbers(1), keepdims=0)
    shape = (1, 7, width) if places else (1, width)
    sentence = net.finish(net.linear(x, 8, width), shape=shape).architecture.sentence
    noun = "output" if width == 1 else "outputs"
    assert sentence.endswith(f"{width} {noun} at each place." if places else f"{width} {noun}.")


def test_two_outputs_are_told_by_sizes_that_they_have() -> None:
    for squeezed in (False, True):
        net = Network()
        x = net.add("Relu", net.linear(net.take("x", (1, 40, 6)), 6, 8))
        ends = [net.linear(net.add("Relu", net.linear(x, 8, 8)), 8, 1) for _ in range(2)]
        shape: Shape = (1, 40, 1)
        if squeezed:
            ends = [net.add("Squeeze", end, net.numbers(2)) for end in ends]
            shape = (1, 40)
        sentence = net.finish(*ends, shape=shape).architecture.sentence
        assert ("outputs of 1 and 1 features" in sentence) != squeezed, sentence


def test_two_numbers_of_each_token_are_no_vocabulary_of_two_kinds_of_token() -> None:
    net = Network()
    kinds = net.embed("kinds", 2)
    x = net.add("Add", net.embed("ids", 100), kinds)
    x = net.add("Relu", net.linear(net.add("Relu", net.linear(x, 8, 8)), 8, 8))
    x = net.add("Add", x, net.attend(x, x))
    for width, is_said in ((2, False), (100, True)):
        other = Network()
        other.nodes, other.weights, other.inputs = [*net.nodes], [*net.weights], [*net.inputs]
        told = other.finish(other.linear(x, 8, width)).architecture.sentence
        assert ("output over the vocabulary" in told) == is_said, told


@pytest.mark.parametrize("is_last", [True, False])
def test_what_stands_before_another_axis_is_no_feature(is_last: bool) -> None:
    """A linear layer along steps of time makes other steps, and no features."""
    net = Network()
    x = net.take("x", (1, 40, 6))
    x = x if is_last else net.add("Transpose", x, perm=[0, 2, 1])
    taken = 6 if is_last else 40
    x = net.add("Relu", net.linear(x, taken, 8))
    ends = [net.linear(net.add("Relu", net.linear(x, 8, 8)), 8, 9) for _ in range(2)]
    shape: Shape = (1, 40, 9)
    if not is_last:
        ends = [net.add("Transpose", end, perm=[0, 2, 1]) for end in ends]
        shape = (1, 9, 6)
    sentence = net.finish(*ends, shape=shape).architecture.sentence
    told = "2 outputs of 9 and 9 features" if is_last else "2 outputs of 9 × 6"
    assert sentence.endswith(f"{told}."), sentence


@pytest.mark.parametrize(
    ("name", "is_told"),
    [("linear", False), ("log_softmax", False), ("alias", False), ("linear_scores", True)],
)
def test_operators_of_torch_are_no_names_of_outputs(name: str, is_told: bool) -> None:
    assert (name in detect(rows=False, name=name)) == is_told


@pytest.mark.parametrize(
    ("name", "noun"),
    [
        ("action_logits", "actions"),
        ("speaker_log_probs", "speakers"),
        ("words_scores", "words"),
        ("actions", "outputs"),
        ("box_scores", "outputs"),
    ],
)
def test_scores_are_of_what_their_name_says(name: str, noun: str) -> None:
    net = Network()
    x = net.add("Relu", net.conv(net.take("state", (1, 3, 9, 9)), 3, 8))
    x = net.add("Flatten", net.add("GlobalAveragePool", net.add("Relu", net.conv(x, 8, 8))))
    net.add("Identity", net.linear(x, 8, 5))
    net.nodes[-1].output[0] = name
    sentence = net.finish(name, shape=(1, 5)).architecture.sentence
    assert f"5 {noun}" in sentence, sentence
