"""What changes over the repetitions of a stack, in words: how far kernels read, sizes, parts.

Compared is what computes. Arithmetic on shapes, constants and layout make no difference that a
reader of the figure wants to know of, so where blocks differ in these alone, nothing is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Node, Value
from netloupe.explorer.patterns import (
    TRIM,
    WORK,
    Ingredient,
    count_queries,
    find_graph_context,
    has_projection,
    is_chain,
)
from netloupe.explorer.patterns.readings import read_int, read_ints

from .end_differences import RESULTS, tell_lacking, tell_start
from .group import Group
from .member_nodes import list_member_nodes
from .member_numbers import tell_numbers
from .position_differences import tell_activations, tell_kernels, tell_pools
from .stack_facts import write_course, write_each_number

#: stacks of more nodes, or of larger blocks, are not compared
_MOST_COMPARED = 4_000
#: so many numbers of a cycle are listed one by one
_MOST_LISTED = 3
#: what comes behind the name of a convolution in its box
_BEHIND = " · "
#: so many users of a value are asked whether they are in a block
_MOST_USERS = 1_000
#: of more axes are maps of an image, or of a wave by channels
_MATRIX = 2


class _Profile(NamedTuple):
    """What is compared of a block.

    Parameters
    ----------
    dilation, kernel
        Of all convolutions that have another one than 1, where they agree; else 0, as of none.
    stride
        The largest of all convolutions and pools; 1 where a map goes through without one.
    parts
        How many there are of which, norms and activations left out.
    size
        How many nodes there are.
    op_types
        Their operators.
    """

    dilation: int
    kernel: int
    stride: int
    parts: Counter[str]
    size: int
    op_types: frozenset[str]


def list_changes(repeat: Group, shown: int | None = None) -> list[str]:
    """Return what changes over the repetitions of a stack, in words.

    Parameters
    ----------
    repeat
        The stack.
    shown
        Which repetition is shown: of it is not said in what it differs. None where none is, and
        widths are told as facts.
    """
    blocks = [child for child in repeat.children if isinstance(child, Group)]
    if len(blocks) < len(repeat.children) or repeat.node_count > _MOST_COMPARED:
        return []
    member_nodes = [list_member_nodes(block, _MOST_COMPARED) for block in blocks]
    # parts of blocks of a known kind are told by facts of these
    is_known = repeat.recognised is not None
    profiles = [
        _profile(nodes, [] if is_known else block.contents)
        for nodes, block in zip(member_nodes, blocks, strict=True)
    ]
    widths = list_course(repeat)
    kernels = tell_kernels(member_nodes)
    activations = tell_activations(member_nodes)
    told = [
        f"{write_course(widths)} channels" if len(widths) > 2 and shown is not None else "",
        _write_numbers("dilation", [one.dilation for one in profiles]),
        _write_numbers("kernel", [one.kernel for one in profiles]) or kernels,
        tell_pools(member_nodes),
        activations,
    ]
    ends = _tell_ends(member_nodes, shown)
    if repeat.is_loop:  # what a last step gives less is what nobody takes any more
        ends = {place: text for place, text in ends.items() if not text.endswith(RESULTS)}
    queries = _count_queries(blocks[0])
    if queries and shown != 0 and not _count_queries(blocks[-1]):
        ends[0] = f"the first from {queries} learned queries"
    place = _find_odd(profiles)
    if place is not None and "/" not in kernels:
        if place not in (*ends, shown):
            ends[place] = _tell_odd(profiles, place)
    elif 0 not in (*ends, shown) and _begins_with_projection(member_nodes):
        ends[0] = "the first with projection"
    if 0 not in (*ends, shown):
        ends[0] = tell_start(*member_nodes[:2])
    told += [ends[number] for number in sorted(ends)]
    if not is_known:
        others = _tell_others(blocks, shown)
        # an end of which more is told already is the same kind with something more or less
        known = {one[: len("the last")] for one in told}
        others = [text for text in others if text[: len("the last")] not in known]
        if others and activations in told:  # of which its kind speaks
            told.remove(activations)
        told += others
    told += tell_numbers(member_nodes, [*filter(None, told)], repeat.list_numbers())
    return [text for text in told if text]


def list_numbers_told(repeat: Group, said: Sequence[str]) -> list[str]:
    """Return which numbers differ over the repetitions of a stack of which nothing is said."""
    blocks = [child for child in repeat.children if isinstance(child, Group)]
    if len(blocks) < len(repeat.children) or repeat.node_count > _MOST_COMPARED:
        return []
    member_nodes = [list_member_nodes(block, _MOST_COMPARED) for block in blocks]
    return tell_numbers(member_nodes, said, repeat.list_numbers())


def _tell_others(blocks: Sequence[Group], shown: int | None) -> list[str]:
    """Return what the first and the last block are where these are of another kind than all else.

    ``the last: ConvNeXt block``; where it is only an idea less, ``the first without
    self-attention``.
    """
    found = [block.recognised for block in blocks]
    names = [one.name for one in found if one is not None]
    if len(names) < len(blocks):
        return []
    kind, count = Counter(names).most_common(1)[0]
    places = [place for place, name in enumerate(names) if name != kind]
    last = len(names) - 1
    if count < 2 or not {*places} <= {0, last}:
        return []
    usual = blocks[names.index(kind)]
    return [
        f"the {'last' if place else 'first'}"
        + (_write_lacking(blocks[place], usual) or f": {_fold(names[place])}")
        for place in places
        if place != shown
    ]


def _write_lacking(block: Group, usual: Group) -> str:
    """Return `` without self-attention`` of a block that is another one without that idea alone."""
    own, all_parts = (
        Counter(one.name for one in group.contents if one.rank >= WORK) for group in (block, usual)
    )
    lacking = [*(all_parts - own).elements()]
    if len(lacking) != 1 or own - all_parts:
        return ""
    return f" without {_lower(lacking[0])}"


def _count_queries(block: Group) -> str:
    """Return how many stored queries a block attends by; "" for none.

    What they attend to among themselves is stored, too (N. Carion and others, End-to-End Object
    Detection with Transformers, 2020, section A.3).
    """
    return count_queries(block.recognised.facts) if block.recognised is not None else ""


def _fold(name: str) -> str:
    """Return the name of a row of parts, and of equal ones how many there are."""
    parts = name.split(_BEHIND)
    if len({*parts}) == 1 and len(parts) > 1:
        return f"{_lower(parts[0])} ×{len(parts)}"
    return _BEHIND.join(map(_lower, parts))


def _tell_ends(member_nodes: Sequence[Sequence[Node]], shown: int | None) -> dict[int, str]:
    """Return what the first and the last block lack of what all between them have, by number."""
    last = len(member_nodes) - 1
    whole = member_nodes[1]
    if last < 2:
        return {}
    op_types = [node.op_type for node in whole]
    if any([node.op_type for node in nodes] != op_types for nodes in member_nodes[1:last]):
        return {}
    context = find_graph_context(whole[0].graph)
    told = {
        place: tell_lacking(member_nodes[place], whole, is_last=place == last, context=context)
        for place in (0, last)
        if place != shown
    }
    return {place: text for place, text in told.items() if text}


def list_course(repeat: Group) -> list[int]:
    """Return the widths that a stack goes through, each once in a row: ``[16, 32, 64]``.

    What the first block takes, and what each gives; nothing where any is not known, or not what
    the next block takes.
    """
    blocks = [child for child in repeat.children if isinstance(child, Group)]
    if len(blocks) < len(repeat.children) or repeat.node_count > _MOST_COMPARED:
        return []
    spans = [_find_span(block.contents) for block in blocks]
    known = [span for span in spans if span is not None]
    runs = all(before[1] == after[0] for before, after in pairwise(known))
    if len(known) < len(spans) or not known or not runs:
        return []
    return [width for width, _ in groupby((known[0][0], *(span[1] for span in known)))]


def _find_span(contents: Sequence[Ingredient]) -> tuple[int, int] | None:
    """Return how many features go into the first part with weights, and come out of the last."""
    if not is_chain(contents):
        return None
    known = [one.details.in_out for one in contents if one.rank > TRIM]
    widths = [pair for pair in known if pair is not None]
    return (widths[0][0], widths[-1][1]) if widths else None


def _profile(nodes: Sequence[Node], contents: Sequence[Ingredient]) -> _Profile:
    dilations, kernels, strides = {1}, {1}, [1]
    for node in nodes:
        operator = node.operator
        if operator.has("convolves"):
            dilations.update(read_ints(node, "dilations") or (read_int(node, "dilation") or 1,))
            kernels.update(read_ints(node, "kernel_shape"))
        is_pool = operator.has("pools") and not operator.has("pools_all")
        if (operator.has("convolves") and not operator.has("transposed")) or is_pool:
            strides += read_ints(node, "strides") or (read_int(node, "stride") or 1,)
    parts: Counter[str] = Counter()
    for one in contents:
        if one.rank > TRIM:  # norms and activations may be shared, or fused with others
            parts[one.name.partition(_BEHIND)[0]] += one.times
    op_types = frozenset(node.op_type for node in nodes)
    stride = 1 if max(strides) > 1 and _keeps_size(nodes) else max(strides)
    convolves = any(node.operator.has("convolves") for node in nodes)
    reach = (_agree(dilations), _agree(kernels)) if convolves else (0, 0)
    return _Profile(*reach, stride, parts, len(nodes), op_types)


def _keeps_size(nodes: Sequence[Node]) -> bool:
    """Return whether some map goes through a block without a stride, so that it keeps its size.

    As where only what comes from two cells before is halved (B. Zoph and others, Learning
    Transferable Architectures for Scalable Image Recognition, 2018, appendix A.4).
    """
    inside = {*nodes}
    pending = [
        node
        for node in nodes
        if any(
            value is not None
            and (value.is_output or any(user not in inside for user in value.users[:_MOST_USERS]))
            for value in node.outputs
        )
    ]
    seen = {*pending}
    while pending:
        node = pending.pop()
        if max((*read_ints(node, "strides"), read_int(node, "stride") or 1)) > 1:
            continue
        for value in node.inputs:
            if value is None or is_input_independent(value):
                continue
            if value.producer in inside and value.producer is not None:
                if value.producer not in seen:
                    seen.add(value.producer)
                    pending.append(value.producer)
            elif _is_map(value):
                return True
    return False


def _is_map(value: Value) -> bool:
    dims = find_value_facts(value.graph.model).find_dims(value)
    return dims is not None and len(dims) > _MATRIX and dims[-1] != 1


def _agree(sizes: set[int]) -> int:
    """Return the one size that is not 1, or 1 where there is none; 0 for several."""
    return max(sizes) if len(sizes) <= 2 else 0


def _write_numbers(what: str, numbers: Sequence[int]) -> str:
    """Return ``dilation 1 … 32`` where numbers change from block to block; else ""."""
    distinct = list(dict.fromkeys(numbers))
    changes = sum(one != other for one, other in pairwise(numbers))
    # where but the first or the last block differs, that is told of it
    if len(distinct) < 2 or changes < min(2, len(numbers) - 1) or 0 in distinct:
        return ""
    cycles = _write_cycles(numbers, len(distinct))
    if not cycles:
        return f"{what} {write_each_number(numbers)}"
    is_short = len(distinct) <= _MOST_LISTED
    told = ", ".join(map(str, distinct)) if is_short else write_each_number(distinct)
    return f"{what} {told}{cycles}"


def _write_cycles(numbers: Sequence[int], period: int) -> str:
    """Return `` in 3 cycles`` where numbers go through all of theirs again and again; else "".

    As the dilations of WaveNet do (A. van den Oord and others, WaveNet, 2016, section 2.1).
    """
    cycles, rest = divmod(len(numbers), period)
    if rest or cycles < 2 or [*numbers] != [*numbers[:period]] * cycles:
        return ""
    return f" in {cycles} cycles" if period > 2 else " in turns"


def _find_odd(profiles: Sequence[_Profile]) -> int | None:
    """Return the first or the last block where all but that one are alike."""
    sides = [(one.stride, one.parts) for one in profiles]
    last = len(sides) - 1
    if sides[0] != sides[1] and all(one == sides[1] for one in sides[2:]):
        return 0
    if sides[last] != sides[0] and all(one == sides[0] for one in sides[:last]):
        return last
    return None


def _begins_with_projection(member_nodes: Sequence[Sequence[Node]]) -> bool:
    """Return whether the first block has a convolution on its shortcut, and no other one has."""
    first, *others = member_nodes
    count = _count_convolutions(first)
    if any(_count_convolutions(other) >= count for other in others):
        return False
    return has_projection(first) and not any(map(has_projection, others))


def _count_convolutions(nodes: Sequence[Node]) -> int:
    return sum(node.operator.has("convolves") for node in nodes)


def _tell_odd(profiles: Sequence[_Profile], place: int) -> str:
    """Return in what the first or the last block differs in kind from the others."""
    which = "the last" if place else "the first"
    odd, other = profiles[place], profiles[place - 1]
    if odd.stride > other.stride == 1:
        by = "halves the size" if odd.stride == 2 else f"divides the size by {odd.stride}"
        return f"{which} {by}"
    if not odd.parts or not other.parts:
        return ""
    # of what there is only more or less nothing is told
    more = [name for name in odd.parts if name not in other.parts]
    fewer = [name for name in other.parts if name not in odd.parts]
    if more and not fewer and odd.size > other.size:
        return f"{which} with {_write_parts(more)}"
    if fewer and not more and odd.size < other.size:
        if other.op_types > odd.op_types:
            return f"{which} without {_write_parts(fewer)}"
        # others like it may be left, which are not told as parts
        is_one = len(fewer) == 1 and other.parts[fewer[0]] == 1
        return f"{which} without one {_lower(fewer[0])}" if is_one else ""
    return ""


def _write_parts(names: Sequence[str]) -> str:
    return " and ".join(_lower(name) for name in names[:2])


def _lower(name: str) -> str:
    """Return a name as it stands in a sentence: ``self-attention``, but ``LayerNorm``, ``MLP``."""
    return name[0].lower() + name[1:] if name[1:].islower() or "-" in name else name
