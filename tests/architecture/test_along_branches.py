"""What is told along chains and branches, and what is not taken for such."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.architecture.test_modules import Named

_WIDTH = 8


class Branched(Named):
    """Recurrent layers, MLPs and linear layers that branch."""

    def recur(self, x: str, hidden: int = _WIDTH) -> str:
        form = self.weight(1, 4 * hidden, _WIDTH), self.weight(1, 4 * hidden, hidden)
        y = self.add("LSTM", x, *form, hidden_size=hidden)
        return self.add("Squeeze", y, self.numbers(1))

    def feed(self, x: str, *widths: int) -> str:
        for number, (taken, given) in enumerate(pairwise(widths)):
            x = self.linear(self.add("Relu", x) if number else x, taken, given)
        return x

    def tell(self, **outputs: str) -> str:
        """Return the sentence of a network with such outputs by their names."""
        made = [node.output[0] for node in self.nodes]
        for name, output in outputs.items():
            self.nodes[made.index(output)].output[0] = name
        for node in self.nodes:
            node.input[:] = [
                next((name for name, output in outputs.items() if output == value), value)
                for value in node.input
            ]
        return self.finish(*outputs).architecture.sentence


def _take(net: Branched, name: str = "frames") -> str:
    return net.take(name, (6, 1, _WIDTH))


@pytest.mark.parametrize(
    ("op_type", "word"), [("Add", "added"), ("Concat", "concatenated"), ("Mul", "multiplied")]
)
def test_branches_are_told_with_how_they_meet(op_type: str, word: str) -> None:
    net = Branched()
    x = _take(net)
    pair = net.recur(net.recur(x)), net.feed(x, _WIDTH, 32, _WIDTH)
    joined = net.add(op_type, *pair, **({"axis": -1} if op_type == "Concat" else {}))
    width = 2 * _WIDTH if op_type == "Concat" else _WIDTH
    told = net.tell(out=net.linear(net.add("Tanh", joined), width, 3))
    assert (
        "two branches (2 LSTM layers of width 8; MLP 8 → 32, ReLU) " + word + ", 3 outputs" in told
    ), told


def test_branches_in_branches_are_told() -> None:
    net = Branched()
    x = _take(net)
    begun = net.feed(x, _WIDTH, 16, _WIDTH)
    inner = net.add("Concat", net.recur(begun), net.recur(begun, 5), axis=-1)
    long = net.linear(inner, _WIDTH + 5, _WIDTH)
    short = net.linear(x, _WIDTH, _WIDTH)
    told = net.tell(out=net.linear(net.add("Tanh", net.add("Add", long, short)), _WIDTH, 3))
    assert "LSTM layer of width 8 and LSTM layer of width 5 concatenated, linear" in told, told
    assert "; linear layer of 8) added" in told, told


@pytest.mark.parametrize("names", [("speech", "text"), ("input.1", "x_2")])
def test_streams_have_the_names_of_their_inputs(names: tuple[str, str]) -> None:
    net = Branched()
    first, second = (_take(net, name) for name in names)
    pair = net.recur(net.recur(first)), net.feed(second, _WIDTH, 32, _WIDTH)
    told = net.tell(out=net.linear(net.add("Concat", *pair, axis=-1), 2 * _WIDTH, 3))
    is_named = names[0] == "speech"
    assert ("speech: 2 LSTM layers" in told) == is_named, told
    assert ("text: MLP" in told) == is_named, told
    assert "two streams (" in told


def test_heads_of_one_layer_are_told_with_what_they_give() -> None:
    net = Branched()
    x = net.recur(net.recur(_take(net)))
    policy = net.add("Softmax", net.linear(x, _WIDTH, 5))
    told = net.tell(policy=policy, worth=net.linear(x, _WIDTH, 1))
    assert "two heads (policy: linear layer 8 → 5, softmax; worth: linear layer 8 → 1)" in told, (
        told
    )
    assert "outputs" not in told


def test_what_gives_more_than_all_before_goes_on_beside_its_head() -> None:
    net = Branched()
    x = net.recur(_take(net))
    length = net.linear(x, _WIDTH, 1)
    for _ in range(6):
        x = net.recur(x)
    told = net.tell(length=length, mel=net.linear(x, _WIDTH, 20))
    assert "LSTM layer of width 8, beside it length (linear layer 8 → 1), 6 LSTM" in told, told


@pytest.mark.parametrize("is_sized", [True, False])
def test_an_output_times_the_input_is_masked(is_sized: bool) -> None:
    """A mask of one number for each place is none of the input's size."""
    net = Branched()
    x = net.take("mixture", (6, 1, _WIDTH if is_sized else 1))
    first = x if is_sized else net.linear(x, 1, _WIDTH)
    y = net.linear(net.recur(net.recur(first)), _WIDTH, _WIDTH)
    told = net.tell(out=net.add("Mul", net.add("Relu", y), x))
    assert ("multiplied by mixture" in told) == is_sized, told


def test_what_joins_on_the_way_is_told_where_it_does() -> None:
    net = Branched()
    x, view = _take(net, "points"), _take(net, "views")
    begun = net.feed(x, _WIDTH, 32, _WIDTH)
    colour = net.add("Concat", net.linear(begun, _WIDTH, 4), net.recur(view), axis=-1)
    density = net.linear(begun, _WIDTH, 1)
    told = net.tell(rgb=net.feed(colour, 4 + _WIDTH, 16, 3), sigma=density)
    assert "concatenated with views (LSTM layer of width 8), MLP" in told, told


def test_a_sum_with_what_goes_in_is_no_branch() -> None:
    net = Branched()
    x = net.linear(_take(net), _WIDTH, _WIDTH)
    y = net.recur(net.recur(x))
    told = net.tell(out=net.linear(net.add("Add", x, y), _WIDTH, 3))
    assert "branch" not in told
    assert "skip" not in told


def test_a_concatenated_skip_is_told() -> None:
    net = Branched()
    x = net.linear(_take(net), _WIDTH, _WIDTH)
    y = net.recur(net.recur(x))
    told = net.tell(out=net.linear(net.add("Concat", x, y, axis=-1), 2 * _WIDTH, 3))
    assert "2 LSTM layers of width 8 with a concatenated skip, 3 outputs" in told, told


def test_a_skip_around_several_is_told_of_all_of_them() -> None:
    net = Branched()
    x = net.linear(_take(net), _WIDTH, _WIDTH)
    y = net.feed(net.recur(net.recur(x)), _WIDTH, 16, _WIDTH)
    told = net.tell(out=net.linear(net.add("Concat", x, y, axis=-1), 2 * _WIDTH, 3))
    assert "MLP (8 → 16, ReLU), with a concatenated skip around these 2, 3 outputs" in told, told


def test_a_mask_is_no_stream() -> None:
    net = Branched()
    x, mask = _take(net), net.take("mask", (6, 1, 1))
    y = net.recur(net.add("Mul", net.linear(x, _WIDTH, _WIDTH), mask))
    told = net.tell(out=net.linear(net.add("Mul", net.recur(y), mask), _WIDTH, 3))
    assert "mask" not in told
    assert "streams" not in told


def test_calls_with_the_same_weights_are_no_branches() -> None:
    net = Branched()
    left, right = _take(net, "left"), _take(net, "right")
    weight, recurrent = net.weight(1, 4 * _WIDTH, _WIDTH), net.weight(1, 4 * _WIDTH, _WIDTH)
    given = [
        net.add(
            "Squeeze", net.add("LSTM", one, weight, recurrent, hidden_size=_WIDTH), net.numbers(1)
        )
        for one in (left, right)
    ]
    told = net.tell(out=net.linear(net.add("Concat", *given, axis=-1), 2 * _WIDTH, 3))
    assert "branches" not in told
    assert "streams" not in told


def test_networks_without_anything_in_common_are_told_apart() -> None:
    net = Branched()
    outputs = {}
    for number, name in enumerate(("faces", "boxes")):
        x = net.feed(net.take(name, (6, 1, _WIDTH)), _WIDTH, 16, _WIDTH)
        for _ in range(number + 1):
            x = net.recur(x)
        outputs[f"{name}_out"] = net.linear(x, _WIDTH, 2 + number)
    told = net.tell(**outputs)
    assert "two networks (faces: MLP 8 → 16" in told, told


@pytest.mark.parametrize("names", [("slow", "fast_path"), ("b1", "fast"), ("slow", "slow")])
def test_branches_have_the_names_of_their_modules(names: tuple[str, str]) -> None:
    net = Branched()
    x = _take(net)
    given = []
    for count, name in enumerate(names, 1):
        start = len(net.nodes)
        y = net.feed(x, _WIDTH, 16 * count, _WIDTH)
        for _ in range(count):
            y = net.recur(y)
        given.append(y)
        net.within(start, f"{name}.{count}" if names[0] == names[1] else name)
    told = net.tell(out=net.linear(net.add("Concat", *given, axis=-1), 2 * _WIDTH, 3))
    assert "two branches (" in told
    assert ("slow: MLP" in told and "fast path: MLP" in told) == (names[1] == "fast_path"), told


def test_levels_that_are_joined_are_told_in_a_row() -> None:
    net = Branched()
    x = net.recur(net.recur(_take(net)))
    ends = [net.linear(x, _WIDTH, 4)]
    x = net.feed(x, _WIDTH, 16, _WIDTH)
    ends.append(net.linear(x, _WIDTH, 4))
    ends.append(net.linear(net.recur(x), _WIDTH, 4))
    told = net.tell(out=net.linear(net.add("Concat", *ends, axis=-1), 12, 3))
    assert "2 LSTM layers of width 8, MLP (8 → 16, ReLU), LSTM layer of width 8, behind" in told
    assert "behind each of these 3 a linear layer, concatenated, 3 outputs" in told
    assert "branches" not in told


def test_what_joins_through_branches_of_its_own_is_not_nested() -> None:
    net = Branched()
    x, other = _take(net, "points"), _take(net, "views")
    begun = net.feed(x, _WIDTH, 16, _WIDTH)
    side = net.add("Concat", net.recur(other), net.feed(other, _WIDTH, 32, _WIDTH), axis=-1)
    joined = net.add("Concat", net.linear(begun, _WIDTH, 4), side, axis=-1)
    told = net.tell(rgb=net.feed(joined, 4 + 2 * _WIDTH, 16, 3), sigma=net.linear(begun, _WIDTH, 1))
    assert "concatenated with views (two branches" not in told


@pytest.mark.parametrize("names", [("context", "query"), ("context", "context")])
def test_calls_on_several_inputs_are_named_by_what_these_have_in_common(
    names: tuple[str, str],
) -> None:
    net = Branched()
    words, chars = net.weight(2 * _WIDTH, _WIDTH), net.weight(_WIDTH, _WIDTH)
    form = net.weight(1, 4 * _WIDTH, _WIDTH), net.weight(1, 4 * _WIDTH, _WIDTH)
    given = []
    for number, name in enumerate(names):
        end = "" if names[0] != names[1] else f"_{'ab'[number]}"
        letters = net.add("MatMul", _take(net, f"{name}_chars{end}"), chars)
        both = net.add("Concat", _take(net, f"{name}_words{end}"), letters, axis=-1)
        x = net.add("Relu", net.add("MatMul", both, words))
        y = net.add("LSTM", x, *form, hidden_size=_WIDTH)
        given.append(net.add("Squeeze", y, net.numbers(1)))
    told = net.tell(out=net.linear(net.add("Concat", *given, axis=-1), 2 * _WIDTH, 3))
    assert ("on context and query" in told) == (names[1] == "query"), told


@pytest.mark.parametrize(
    ("bounds", "is_mask"), [("Sigmoid", True), ("Softmax", False), ("Relu", False), ("", False)]
)
def test_a_gate_on_what_it_is_made_of_is_a_mask(bounds: str, is_mask: bool) -> None:
    net = Branched()
    x = net.feed(_take(net), _WIDTH, 32, _WIDTH)
    y = net.linear(net.recur(net.recur(x)), _WIDTH, 2 * _WIDTH)
    y = net.add(bounds, y) if bounds else y
    pair = [net.add("Reshape", one, net.numbers(6, -1, _WIDTH)) for one in (y, x)]
    told = net.tell(out=net.linear(net.add("Mul", *pair), _WIDTH, 3))
    assert ("these 2 gated with their input, " in told) == is_mask, told


def test_alike_heads_are_told_once() -> None:
    net = Branched()
    x = net.recur(net.recur(net.recur(net.recur(_take(net)))))
    long = {name: net.linear(net.recur(x), _WIDTH, 2) for name in ("onset", "offset")}
    told = net.tell(phase=net.linear(x, _WIDTH, 2), **long)
    assert "three heads (phase: linear layer 8 → 2; onset and offset: each LSTM layer" in told, told


def test_heads_that_are_all_alike_have_their_names_before() -> None:
    net = Branched()
    x = net.recur(net.recur(net.recur(net.recur(_take(net)))))
    told = net.tell(**{name: net.linear(x, _WIDTH, 2) for name in ("onset", "offset")})
    assert "two heads, onset and offset (each linear layer 8 → 2)" in told, told


def test_heads_with_branches_in_them_are_heads_beside_each_other() -> None:
    net = Branched()
    x = _take(net)
    for _ in range(12):
        x = net.recur(x)
    ends = {}
    for name in ("onset", "offset"):
        start = len(net.nodes)
        y = net.recur(x)
        y = net.add("Add", net.feed(y, _WIDTH, 16, _WIDTH), y)
        ends[name] = net.linear(net.recur(y), _WIDTH, 2)
        net.within(start, name)
    told = net.tell(phase=net.linear(x, _WIDTH, 2), **ends)
    assert "three heads (" in told, told
    assert "two heads" not in told


def test_a_sum_in_a_sum_is_one() -> None:
    net = Branched()
    x = net.feed(_take(net), _WIDTH, 32, _WIDTH)
    inner = net.linear(x, _WIDTH, 16)
    parts = [net.linear(net.recur(net.linear(inner, 16, _WIDTH)), _WIDTH, _WIDTH)]
    parts.append(net.feed(inner, 16, 32, _WIDTH))
    total = net.add("Add", *parts)
    total = net.add("Add", net.recur(net.recur(x)), total)
    told = net.tell(out=net.linear(net.add("Tanh", total), _WIDTH, 3))
    assert "), all added" in told, told
    assert told.count("added") == 1, told
