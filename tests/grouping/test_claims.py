"""What a stack says of itself is counted again from the nodes, in every model and grouping."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

import pytest

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.model import Graph, Model, Node, TensorType, Value
from netloupe.explorer.patterns import Recognition, find_graph_context, recognise
from netloupe.explorer.patterns.details import RecurrentDetails
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.group_summary import (
    count_each,
    write_difference,
    write_kinds,
)
from tests.test_known_architectures import KNOWN, find_file

_NUMBERS = re.compile(r"(dilation|kernel|stride) (\d+(?:, (?:then )?\d+)+|\d+ (?:…|to) \d+)")
_ODD = re.compile(
    r"the (first|last) (halves the size|with|without|divides the size by|begins the sums?)"
    r"(?: (.+))?"
)
_OTHER = re.compile(r"the (first|last): (.+)")
_QUERIES = re.compile(r"the (first|last) from (\d+) learned queries")
_RANGE = re.compile(r"(.*\D|)(\d+) … \1(\d+)", re.DOTALL)
_THEN = re.compile(r", then (\d+)")
#: a block has so many of the operators of the one that stands for all, counted
_ALIKE = 0.6


#: the tests of one model follow one another: it is read and grouped once for all of them
_EACH_MODEL = pytest.mark.parametrize("name", [*KNOWN], scope="module")


@lru_cache(maxsize=1)
def open_model(name: str) -> Model:
    return load(find_file(name))


@lru_cache(maxsize=4)
def list_trees(name: str, grouping: str) -> list[GroupTree]:
    """Return the trees of all graphs of a model."""
    return [build_group_tree(graph, grouping) for graph in list_graphs(open_model(name))]


def list_graphs(model: Model) -> Iterator[Graph]:
    """Yield the main graph, the bodies of functions, and the graphs inside these."""
    pending = [model.graph, *model.functions]
    while pending:
        graph = pending.pop()
        yield graph
        pending += [inner for node in graph.nodes for inner in node.subgraphs]


def list_repeats(tree: GroupTree) -> Iterator[Group]:
    return (group for group in {*tree.groups.values()} if group.kind == "repeat")


def walk(child: Group | Node) -> list[Node]:
    """Return all nodes of a block, from its children and not from any count."""
    nodes: list[Node] = []
    pending = [child]
    while pending:
        inner = pending.pop()
        if isinstance(inner, Group):
            pending += inner.children
        else:
            nodes.append(inner)
    return nodes


def list_attribute(block: list[Node], name: str, *, of_pools: bool = False) -> list[int]:
    """Return the numbers of an attribute of all convolutions, and of pools where these count."""
    traits = ("convolves", "pools") if of_pools else ("convolves",)
    return [
        number
        for node in block
        if node.operator.has(*traits) and not (of_pools and node.operator.has("transposed"))
        for attribute in [node.attributes.get(name)]
        if attribute is not None and isinstance(attribute.value, tuple)
        for number in attribute.value
    ]


def list_stored_products(block: list[Node]) -> list[Value]:
    """Return what a block multiplies with its weights though it depends on no input."""
    products = [node for node in block if node.op_type in {"MatMul", "Gemm"}]
    results = [value for node in products for value in node.outputs if value is not None]
    return [value for value in results if is_input_independent(value)]


def check_change(text: str, blocks: list[list[Node]]) -> None:
    """Assert that what is said to change over blocks does so, by their nodes."""
    if (match := _NUMBERS.fullmatch(text)) is not None:
        name = {"dilation": "dilations", "kernel": "kernel_shape", "stride": "strides"}[match[1]]
        met = {max(list_attribute(block, name), default=1) for block in blocks}
        told = {int(number) for number in re.findall(r"\d+", match[2])}
        assert len(met) > 1
        assert told == (met if "," in match[2] else {min(met), max(met)})
        return
    if (match := _OTHER.fullmatch(text)) is not None:
        place = 0 if match[1] == "first" else len(blocks) - 1
        operators = [Counter(node.op_type for node in block) for block in blocks]
        attributes = [sorted(list_attribute(block, "kernel_shape")) for block in blocks]
        sides = [*zip(operators, attributes, strict=True)]
        assert sum(side == sides[place] for side in sides) == 1
        return
    if (match := _QUERIES.fullmatch(text)) is not None:
        place = 0 if match[1] == "first" else len(blocks) - 1
        stored = [list_stored_products(block) for block in blocks]
        assert stored[place]
        assert not any(products for at, products in enumerate(stored) if at != place)
        for product in stored[place]:
            if isinstance(product.type, TensorType) and product.type.shape is not None:
                assert match[2] in map(str, product.type.shape)
        return
    match = _ODD.fullmatch(text)
    assert match is not None, text
    place = 0 if match[1] == "first" else len(blocks) - 1
    others = [block for number, block in enumerate(blocks) if number != place]
    if match[2] in ("halves the size", "divides the size by"):
        by = int(match[3] or 2)
        assert max(list_attribute(blocks[place], "strides", of_pools=True)) == by
        for block in others:
            assert max(list_attribute(block, "strides", of_pools=True), default=1) == 1
        return
    operators = [Counter(node.op_type for node in block) for block in blocks]
    more = operators[place] - operators[1 if place == 0 else place - 1]
    fewer = operators[1 if place == 0 else place - 1] - operators[place]
    assert fewer if match[2] != "with" else more
    if match[3] == "projection":
        assert sum(count for op, count in more.items() if "Conv" in op) >= 1


@pytest.mark.parametrize("grouping", ["auto", "names", "modules", "repeats"])
@_EACH_MODEL
def test_what_a_stack_says_is_so(name: str, grouping: str) -> None:
    for tree in list_trees(name, grouping):
        for repeat in list_repeats(tree):
            blocks = [walk(child) for child in repeat.children]
            sizes = [*map(len, blocks)]
            assert len(blocks) > 1
            assert sum(sizes) == len({node.index for block in blocks for node in block})
            assert repeat.node_count == sum(sizes)
            if not write_kinds(repeat):
                for change in filter(
                    None, re.split(r", (?!then )(?=\D)", write_difference(repeat))
                ):
                    check_change(change, blocks)
            exemplar = Counter(node.op_type for node in blocks[repeat.exemplar])
            for block in blocks:
                shared = (exemplar & Counter(node.op_type for node in block)).total()
                assert shared >= _ALIKE * max(len(block), exemplar.total()), repeat.path
            numbers = _RANGE.fullmatch(repeat.label)
            if numbers is not None:
                assert int(numbers[3]) - int(numbers[2]) + 1 == len(blocks), repeat.label


_WIDTHS = re.compile(r"(\d+)(?: to (\d+))? → (?:(?:\d+ → )*)(\d+)(?: to (\d+))?")
_ADDED = re.compile(r"\+(\d+) each")
_ALTERNATING = re.compile(r"1 global after (\d+) local, window (\d+)")
_KIND = re.compile(r"(?:^|, )(.+?) in (\d+)(?: of (\d+))?(?=, |$)")


def tell_block(block: Group | Node) -> Recognition | None:
    """Return what one block of a stack is, from its nodes alone and not from any other block."""
    shapes: set[Node] = set()
    pending = [block]
    while pending:
        inner = pending.pop()
        if isinstance(inner, Group):
            if inner.kind == "shape":
                shapes.update(walk(inner))
            pending += inner.children
    nodes = sorted({*walk(block)} - shapes, key=lambda node: node.index)
    return tell_nodes(tuple(nodes))


@lru_cache(maxsize=500)
def tell_nodes(nodes: tuple[Node, ...]) -> Recognition | None:
    """Return what nodes are; most ways to group a model have blocks of the same ones."""
    return recognise(nodes, find_graph_context(nodes[0].graph))


def check_widths(facts: list[str], found: list[Recognition], blocks: list[list[Node]]) -> None:
    """Assert that a stack takes and gives what it says that no block says by itself."""
    added = [fact for fact in facts if _ADDED.fullmatch(fact)]
    told = [fact for fact in facts if fact not in added]
    assert len(told) <= 1
    if not told:
        return
    ways = 2 if found[0].details.read_as(RecurrentDetails).bidirectional else 1
    text = told[0].replace("→ 2 × ", "→ ")
    assert (text != told[0]) is (ways == 2), told
    text, then = _THEN.sub("", text), _THEN.search(text)
    match = _WIDTHS.fullmatch(text)
    assert match is not None, told
    pairs = [pair for one in found if (pair := one.details.in_out) is not None]
    assert len(pairs) == len(found)
    taken, given = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if added:
        growth = int(_ADDED.fullmatch(added[0])[1])  # type: ignore[index]
        assert {*given} == {growth}
        assert all(two - one == growth for one, two in pairwise(taken))
        assert (int(match[1]), int(match[3])) == (taken[0], taken[-1] + growth)
    elif match[2] or match[4]:
        assert (int(match[1]), int(match[2] or match[1])) == (min(taken), max(taken))
        assert (int(match[3]), int(match[4] or match[3])) == (min(given), max(given))
    else:
        assert (int(match[1]), int(match[3])) == (taken[0], given[-1])
        if then is not None:
            assert {*taken[1:]} == {int(then[1])} != {taken[0]}
        if {*taken} != {taken[0]} or {*given} != {given[0]}:
            assert taken[1:] == [ways * width for width in given[:-1]]
            for one, two in pairwise(blocks):
                values = {value for node in one for value in node.outputs}
                assert any(value in values for node in two for value in node.inputs if value)


def _list_windows(found: Recognition) -> list[int]:
    return [int(fact.removeprefix("window ")) for fact in found.facts if fact.startswith("window ")]


def check_kinds(text: str, found: list[Recognition]) -> None:
    """Assert that as many blocks have what some have, and that others have not."""
    alternating = _ALTERNATING.fullmatch(text)
    if alternating is not None:
        windows = [next(iter(_list_windows(one)), 0) for one in found]
        period = int(alternating[1]) + 1
        for place, window in enumerate(windows):
            assert window == (int(alternating[2]) if place % period < period - 1 else 0)
        return
    told = _KIND.findall(text)
    assert told
    counts = [int(count) for _, count, _ in told]
    for kind, count, of in told:
        facts = {*kind.split(" and ")}
        having = [one for one in found if facts <= {*one.facts}]
        assert len(having) == int(count) < len(found)
        assert not of or int(of) == len(found)
    assert told[0][2] or sum(counts) == len(found)


@pytest.mark.parametrize("grouping", ["auto", "names"])
@_EACH_MODEL
def test_a_fact_of_a_stack_is_so_for_all_its_blocks(name: str, grouping: str) -> None:
    for tree in list_trees(name, grouping):
        for repeat in list_repeats(tree):
            recognition = repeat.recognised
            if recognition is None:
                continue
            found = []
            for child in repeat.children:
                one = tell_block(child)
                assert one is not None
                assert one.name == recognition.name
                found.append(one)
            own = [fact for fact in recognition.facts if any(fact not in f.facts for f in found)]
            check_widths(own, found, [walk(child) for child in repeat.children])
            for key, value in recognition.details.to_mapping().items():
                if key == "kinds":
                    check_kinds(str(value), found)
                elif key not in ("in", "out"):
                    assert {one.details.to_mapping().get(key) for one in found} == {value}, key


def count_computing(block: Group | Node) -> Counter[str]:
    """Return how often a block has which operator, outside of arithmetic on shapes."""
    counts: Counter[str] = Counter()
    pending = [block]
    while pending:
        inner = pending.pop()
        if isinstance(inner, Node):
            counts[inner.op_type] += 1
        elif inner.kind != "shape":
            pending += inner.children
    return counts


@_EACH_MODEL
def test_operators_of_a_stack_are_counted_in_all_its_blocks(name: str) -> None:
    for tree in list_trees(name, "auto"):
        for repeat in list_repeats(tree):
            counts = [count_computing(child) for child in repeat.children]
            for operator, times in count_each(repeat.children):
                span = {count[operator] for count in counts}
                said, is_some, _ = times.partition(" in some")
                low, _, high = (said.removeprefix(" ×") or "1").partition(" to ")
                assert bool(is_some) == (0 in span), repeat.path
                span.discard(0)
                assert (int(low), int(high or low)) == (min(span), max(span)), repeat.path
