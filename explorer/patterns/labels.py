"""What tells labels and links of words, and which of them are copied."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.dataflow import find_source
from netloupe.explorer.model import Node, Value
from netloupe.explorer.operators import LAYOUT_TRAITS

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_scalar, read_str
from .terms import find_shares
from .weight_sizes import read_dims

_LEAST_STEPS = 2
_MOST_BEHIND = 1000
_MATRIX = 2
_MOST_BETWEEN = 3
_BEST, _ALL = "ReduceMax", "ReduceLogSumExp"
#: what goes back along the best labels
_GOING_BACK = ("gathers", "joins", "looks_up", "picks", "finds_largest")


def find_label_chains(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find scores of labels that go along a sequence, by stored scores of one behind another.

    Each step takes the best label before, as Viterbi's algorithm does, or sums over all (J.
    Lafferty and others, Conditional Random Fields, 2001, section 3; G. Lample and others, Neural
    Architectures for Named Entity Recognition, 2016, equations 1 and 2).
    """
    operations = blocks.operations
    steps: dict[tuple[str, Value], list[tuple[int, int]]] = {}
    for number, kind in enumerate(operations.kinds):
        if kind not in (_BEST, _ALL) or blocks.owner[number] is not None:
            continue
        scored = operations.giver(operations.operands[number][0])
        if scored is None or operations.kinds[scored] != "Add":
            continue
        fixed = operations.fixed(scored)
        sizes = [dim for dim in read_dims(fixed[0]) if dim != 1] if len(fixed) == 1 else []
        if len(sizes) == _MATRIX and sizes[0] == sizes[1] and len(operations.operands[scored]) == 1:
            steps.setdefault((kind, fixed[0]), []).append((scored, number))
    for (kind, scores), found in steps.items():
        ends = {number for _, number in found}
        numbers = {n for step in found for n in step}
        links = 0
        for scored, _ in found:
            before = operations.giver(operations.operands[scored][0])
            before = _skip_choice(operations, before)
            taken = operations.givers(before) if before is not None else []
            if before is None or operations.kinds[before] != "Add" or not ends & {*taken}:
                continue
            links += 1
            numbers.add(before)
        if links + 1 < max(len(found), _LEAST_STEPS):
            continue
        if any(blocks.owner[number] is not None for number in numbers):
            continue
        numbers |= _walk_behind(blocks, numbers)
        labels = max(read_dims(scores))
        name = "Viterbi decoding" if kind == _BEST else "CRF forward algorithm"
        facts = (f"{labels} labels", f"{len(found)} steps")
        yield FoundBlock("label chain", name, frozenset(numbers), max(numbers), facts)


def _skip_choice(operations: Operations, number: int | None) -> int | None:
    """Return what gives new scores where a mask keeps the old ones."""
    if number is None or operations.kinds[number] != "Where":
        return number
    givers = [g for g in operations.givers(number) if operations.kinds[g] == "Add"]
    return max(givers, default=None)


def _walk_behind(blocks: FoundBlocks, numbers: set[int]) -> set[int]:
    """Return the last sum of scores, and what goes back along the labels that led there."""
    operations = blocks.operations
    found: set[int] = set()
    for number in range(min(numbers), min(len(operations), max(numbers) + _MOST_BEHIND)):
        givers = operations.givers(number)
        known = numbers | found
        if number in known or blocks.owner[number] is not None or not known & {*givers}:
            continue
        is_back = operations.nodes[number].operator.has(*_GOING_BACK)
        is_sum = operations.kinds[number] == "Add"
        if is_back or is_sum:
            found.add(number)
    return found


def find_biaffines(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find scores of pairs by a weight between two activated layers: h · U · d.

    T. Dozat and C. Manning, Deep Biaffine Attention for Neural Dependency Parsing, 2017, equation
    6. No shares are made of them before they are what is asked for.
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if blocks.owner[end] is not None or len(taken) != 2 or taken[0] is taken[1]:
            continue
        fixed = operations.fixed(end)
        if kind == "Einsum" and len(fixed) == 1:
            first, second = (_read_source(operations, value) for value in taken)
            if first is not None and first is second:
                labels = _count_labels(operations, end)
                facts = (f"{labels} labels",) if labels > 1 else ()
                joins = {
                    giver
                    for giver in operations.givers(end)
                    if operations.nodes[giver].operator.has("joins")
                    and operations.only_user(giver) == end
                }
                yield FoundBlock(
                    "biaffine", "Biaffine scores", frozenset({*joins, end}), end, facts
                )
            continue
        if kind != "MatMul":
            continue
        for weighted, other in (taken, taken[::-1]):
            layers = blocks.ending(operations.giver(weighted), "linear", "mlp")
            if layers is None or operations.only_user(layers.end) != end:
                continue
            last = layers.parts[-1] if layers.parts else layers
            source = operations.operands[min(last.numbers)][0]
            both = {_read_source(operations, value) for value in (source, other)}
            if None not in both and len(both) == 1 and source is not other:
                widths = last.facts[:1]
                numbers = layers.numbers | {end}
                yield FoundBlock("biaffine", "Biaffine scores", numbers, end, widths)
                break


def _read_source(operations: Operations, value: Value) -> Value | None:
    """Return of what a layer and its activation give a value, ones perhaps beside it; else None."""
    node = _skip_arrangement(value)
    if node is not None and node.operator.has("joins"):
        data = [v for v in node.inputs if v is not None and not operations.is_fixed(v)]
        node = data[0].producer if len(data) == 1 else None
    if node is None or not node.operator.has("activates") or node.operator.has("distributes"):
        return None
    is_layer = False
    current = node.input(0)
    for _ in range(_MOST_BETWEEN):
        giver = _skip_arrangement(current)
        if giver is None or not giver.operator.has("adds", "multiplies"):
            break
        data = [v for v in giver.inputs if v is not None and not operations.is_fixed(v)]
        if len(data) != 1:
            return None
        is_layer |= giver.operator.has("multiplies")
        current = data[0]
        if giver.operator.has("multiplies"):
            break
    return current if is_layer else None


def _skip_arrangement(value: Value | None) -> Node | None:
    """Return what gives a value, before its shape or the order of its axes is changed."""
    source = find_source(value, *LAYOUT_TRAITS) if value is not None else None
    return source.producer if source is not None else None


def _count_labels(operations: Operations, number: int) -> int:
    """Return how many scores an Einsum gives of each pair, by the letter of its weight alone."""
    node = operations.nodes[number]
    terms, _, result = read_str(node, "equation").replace(" ", "").partition("->")
    sides = terms.split(",")
    if len(sides) != len(node.inputs):
        return 0
    place = next(at for at, value in enumerate(node.inputs) if operations.is_fixed(value))
    others = {letter for at, side in enumerate(sides) if at != place for letter in side}
    own = [letter for letter in sides[place] if letter in result and letter not in others]
    dims = read_dims(node.input(place))
    return dims[sides[place].index(own[0])] if len(own) == 1 and dims else 0


def find_copy_mechanisms(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find shares of a vocabulary to which those of a source's words are added by their numbers.

    g · p(word) + (1 - g) · Σ shares of where it stands (A. See and others, Get To The Point:
    Summarization with Pointer-Generator Networks, 2017, equation 9). Words of the source that the
    vocabulary lacks may stand behind it, with shares of 0 before that.
    """
    operations = blocks.operations
    for end, node in enumerate(operations.nodes):
        if not node.operator.has("scatters") or read_str(node, "reduction") != "add":
            continue
        taken = [*operations.operands[end]]
        widened = operations.giver(taken[0]) if taken else None
        is_widened = widened is not None and operations.nodes[widened].operator.has("joins", "pads")
        if widened is not None and is_widened and len(operations.operands[widened]) == 1:
            taken[0] = operations.operands[widened][0]
        else:
            widened = None
        products = [n for v in taken if (n := operations.given_by(v, "Mul")) is not None]
        if len(products) != 2 or blocks.owner[end] is not None:
            continue
        gates = [_read_gate(operations, product) for product in products]
        first, second = gates
        if first is None or second is None or first is second:
            continue
        inverse = next(
            (
                n
                for gate, other in ((first, second), (second, first))
                if (n := operations.given_by(gate, "Sub")) is not None
                and operations.operands[n] == [other]
                and read_scalar(operations.nodes[n].input(0)) == 1.0
            ),
            None,
        )
        if inverse is None:
            continue
        numbers = {end, *products, *([] if widened is None else [widened])}
        if numbers.issuperset(operations.users[inverse]):
            numbers.add(inverse)
        if all(blocks.owner[number] is None for number in numbers):
            yield FoundBlock("copying", "Copy mechanism", frozenset(numbers), end)


def _read_gate(operations: Operations, product: int) -> Value | None:
    """Return what multiplies shares; None where no shares are multiplied."""
    taken = operations.operands[product]
    if len(taken) != 2:
        return None
    for shares, gate in (taken, taken[::-1]):
        if find_shares(shares) is not None:
            return gate
    return None
