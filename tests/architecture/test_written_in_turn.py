"""Branches that a file writes in turn, node by node, are told as if one came after the other."""

from __future__ import annotations

from .networks import Network


def tell(*, in_turn: bool, joins: bool = False) -> str:
    """Return what is said of two branches of four layers, the first ones perhaps in turn."""
    net = Network()
    x = net.linear(net.take("x", (1, 12, 20)), 20, 8)
    y = net.add("Relu", net.linear(net.add("Tanh", x), 8, 8))

    def attend(value: str) -> str:
        normed = net.norm(value, 8)
        return net.add("Add", value, net.attend(normed, normed))

    def feed(value: str) -> str:
        return net.add("Add", value, net.feed(net.norm(value, 8)))

    if in_turn:
        x, y = attend(x), attend(y)
        if joins:  # what one branch takes of the other is between attention and MLP
            x = net.add("Add", x, net.linear(net.add("Tanh", x), 8, 8))
        x, y = feed(x), feed(y)
    else:
        x = feed(attend(x))
        y = feed(attend(y))
    for _ in range(3):
        x = net.block(x)
    for _ in range(3):
        y = net.block(y)
    joined = net.add("Concat", x, y, axis=2)
    return net.finish(net.add("Neg", net.linear(joined, 16, 5))).architecture.sentence


def test_branches_in_turn_have_the_layers_of_branches_one_after_the_other() -> None:
    assert tell(in_turn=True) == tell(in_turn=False)
    assert "4 transformer blocks" in tell(in_turn=True)


def test_what_is_on_the_way_from_attention_to_an_mlp_keeps_them_apart() -> None:
    told = tell(in_turn=True, joins=True)
    assert "3 transformer blocks" in told
