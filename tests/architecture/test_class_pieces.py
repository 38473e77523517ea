"""Modules of plain layers that the class of their author tells."""

from __future__ import annotations

import pytest

from .networks import Network

_SCOPES = "pkg.torch.onnx.name_scopes"
_CLASSES = "pkg.torch.onnx.class_hierarchy"


class Typed(Network):
    """A network whose nodes say which modules they are in, and of which classes these are."""

    def within(self, start: int, *around: tuple[str, str]) -> None:
        """Put all nodes from a place on into a module, the last of those around."""
        names = [name for name, _ in around]
        kinds = [f"m.{kind}" for _, kind in around]
        for node in self.nodes[start:]:
            if not node.metadata_props:
                node.metadata_props.add(key=_SCOPES, value=repr(["", *names, node.op_type]))
                node.metadata_props.add(
                    key=_CLASSES, value=repr(["m.Model", *kinds, f"aten.{node.op_type}"])
                )


def mix(net: Typed, x: str) -> str:
    """Return what nothing is known of: sums over what comes before, weighed by products."""
    first = net.linear(x, 8, 16)
    products = net.add("Einsum", first, first, equation="bnd,bmd->bnm")
    products = net.add("CumSum", products, net.numbers(1))
    return net.linear(net.add("Einsum", products, first, equation="bnm,bmd->bnd"), 16, 8)


def shift(net: Typed, x: str) -> str:
    """Return tokens half of whose features are those of the token before."""
    kept = net.add("Slice", x, net.numbers(0), net.numbers(4), net.numbers(2))
    rest = net.add("Slice", x, net.numbers(4), net.numbers(8), net.numbers(2))
    moved = net.add("Pad", rest, net.numbers(0, 1, 0, 0, -1, 0))
    return net.add("Concat", kept, moved, axis=2)


def tell(kind: str, *, count: int = 4, around: str = "", is_shifted: bool = False) -> str:
    net = Typed()
    x = net.take("x", (1, 6, 8))
    for number in range(count):
        for part, name in (("0", kind), ("1", "FeedForward")):
            module = (f"layers.{number}.{part}", around or name)
            start = len(net.nodes)
            normed = net.norm(x, 8)
            normed = shift(net, normed) if is_shifted and part == "0" else normed
            net.within(start, module)
            given = mix(net, normed) if part == "0" else net.feed(normed)
            net.within(start, module, *([(f"{module[0]}.fn", name)] if around else []))
            x = net.add("Add", x, given)
            net.within(start, module)
    return net.finish(x).architecture.sentence


def test_the_class_of_an_author_tells_what_no_pattern_knows() -> None:
    assert "4 blocks of OddMixing1D and MLP (8 → 32, GELU)" in tell("OddMixing1D")
    assert "4 blocks of OddMixing1D and MLP (8 → 32, GELU)" in tell("_OddMixing1D")


def test_what_stands_around_it_says_nothing() -> None:
    assert "4 blocks of OddMixing and MLP" in tell("OddMixing", around="PreNorm")
    assert "4 blocks of OddMixing and MLP" in tell("OddMixing", around="PreShift")


def test_tokens_that_are_shifted_around_it_are_told_besides() -> None:
    told = tell("OddMixing", around="PreShift", is_shifted=True)
    assert "4 blocks with OddMixing and MLP" in told
    assert "token shift in 4 places" in told


@pytest.mark.parametrize("kind", ["Block", "Sequential", "ResLayer", "PreNorm", "Linear", "Fn"])
def test_classes_of_containers_are_not_said(kind: str) -> None:
    told = tell(kind)
    assert "4 blocks of 2 linear layers and MLP" in told
    assert kind not in told


def test_one_module_of_a_class_is_told_by_its_layers() -> None:
    assert "OddMixing" not in tell("OddMixing", count=1)


def double(kind: str, *, shares: bool, count: int = 3) -> str:
    """Return what is said of two convolutions in each module, or of three around a product."""
    net = Typed()
    x = net.take("image", (1, 8, 16, 16))
    for number in range(count):
        start = len(net.nodes)
        if shares:
            one, two = net.conv(x, 8, 8), net.add("Sigmoid", net.conv(x, 8, 8, 5))
            x = net.add("Concat", net.add("Mul", one, two), x, axis=1)
            x = net.conv(x, 16, 8, 1)
        else:
            x = net.add("Relu", net.conv(net.add("Relu", net.conv(x, 8, 8)), 8, 8))
        net.within(start, (f"units.{number}", kind))
    return net.finish(x).architecture.sentence


def test_convolutions_in_a_row_are_told_as_they_are() -> None:
    told = double("OctoUnitBlock", shares=True)
    assert "3 OctoUnitBlocks (3 convolutions each)" in told
    assert told.startswith("Convolutional network: ")
    told = double("OctoUnitBlock", shares=False)
    assert "six 3×3 convolutions" in told
    assert "Octo" not in told
