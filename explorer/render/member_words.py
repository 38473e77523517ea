"""In what members of a fold differ, in words, where nothing else on its box says it.

``the first without BatchNorm``, ``self and cross alternate``, ``takes 28 … 1,372``; where no word
fits, ``different inner widths``: what is drawn as ×N is N like members, or it is said how not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.branches import is_summed
from netloupe.explorer.grouping.member_differences import (
    Difference,
    are_of_example,
    begins_stored,
    list_starts,
    read_ends,
)
from netloupe.explorer.grouping.member_nodes import list_member_nodes
from netloupe.explorer.grouping.member_numbers import tell_numbers
from netloupe.explorer.grouping.ports import find_ports
from netloupe.explorer.grouping.stack_facts import write_each_number
from netloupe.explorer.model import Node, Tensor, Value
from netloupe.explorer.operators import ARRANGING_TRAITS, LAYOUT_TRAITS
from netloupe.explorer.patterns.activations import ACTIVATIONS
from netloupe.explorer.patterns.norms import NORMS
from netloupe.explorer.patterns.readings import read_int, read_ints
from netloupe.explorer.patterns.transformer_details import AttentionDetails, TransformerDetails
from netloupe.explorer.roles import find_weight
from netloupe.explorer.roles.origins import find_origin

from .loop_words import tell_lacking_modules
from .sum_words import find_lacking_sums

#: folds of more nodes are not compared
_MOST_COMPARED = 8_000
#: so many names of parts are told
_MOST_NAMES = 2
#: members of more kinds are said to differ, and no more
_MOST_KINDS = 2
#: what is said where the numbers of attributes differ
_ATTRIBUTES = {"kernel_shape": "kernel", "strides": "stride", "dilations": "dilation"}
#: what norms are called; one that onnxruntime has beside that of ONNX, too
_NORMS = NORMS | {"SimplifiedLayerNormalization": "RMSNorm"}
#: what only puts elements elsewhere
_PLACING = ("joins", "pads", "slices", "splits")
#: what arithmetic gives, by the trait of its operator
_ARITHMETIC = {
    "adds": "sum",
    "subtracts": "difference",
    "multiplies_elements": "product",
    "divides": "quotient",
    "gathers": "gather",
}
#: what an exporter writes for a member of a stack and for others not
_OF_EXPORTS = (*LAYOUT_TRAITS, "gathers", "picks", "reads_shape", "repeats")
_STORED = "the first from stored values"
_WIDTHS, _INNER = "different widths", "different inner widths"
#: batch, tokens, features
_SEQUENCE = 3
#: of tokens with more numbers it is not looked whether these differ
_MOST_STORED = 1 << 20
#: how a box says that widths change
_WIDTHS_SAID = ("→", "channels", "takes ", "rows", "widths")
#: how it says how many members have something; numbers may go in cycles besides
_SOME = r" in \d+\b(?! cycles)"
_ATTRIBUTES_SAID = r"dilation|kernel|stride|pool|the first|the last| in |\d×\d"


def tell_unsaid(repeat: Group, shown: int | None, said: Sequence[str]) -> list[str]:
    """Return in what members of a fold differ of which nothing is said, in words.

    Parameters
    ----------
    repeat
        The fold.
    shown
        Which of its members is shown; None where all are closed.
    said
        What else is written on its box.
    """
    if repeat.node_count > _MOST_COMPARED or len(repeat.children) < 2:
        return []
    if repeat.is_loop:  # in steps of one body an exporter may compute something beforehand
        return tell_lacking_modules(repeat)
    reference = repeat.exemplar if shown is None else shown
    members = [
        list_member_nodes(child, _MOST_COMPARED) if isinstance(child, Group) else [child]
        for child in repeat.children
    ]
    # of how a model was exported nothing is told
    found = [
        one
        for one in repeat.list_differences(reference)
        if one.kind != "operators" or not _is_trace(one, members, reference)
    ]
    if not found:
        return []
    last = len(members) - 1
    told: list[str] = []
    lacking = find_lacking_sums(members, reference)
    if lacking and not _is_said_of_ends(lacking, " · ".join(said), last):
        told.append(f"{_say_which(lacking, last, reference)} without sum")
    numbers = tell_numbers(members) if any(one.kind == "attributes" for one in found) else []
    if sum(one.kind == "operators" for one in found) > _MOST_KINDS:
        told.append("different parts")
        found = [one for one in found if one.kind != "operators"]
    for one in found:
        text = " · ".join((*said, *told))
        if one.kind == "operators":
            if {*one.odd} == {0} and not one.more and is_summed(repeat):
                continue  # of what is summed one begins
            if not _is_said_of_ends(one.odd, text, last) and not _names_activations(one, text):
                told.append(_tell_operators(one, members, reference))
        elif one.kind == "wiring":
            odd = sorted(place for each in found if each.kind == "wiring" for place in each.odd)
            is_begun = odd == [0] and is_summed(repeat)
            if not is_begun and not _is_said_of_ends(odd, text, last):
                heads = _tell_heads(repeat, odd, reference)
                told.append(heads or _tell_wiring(odd, members, reference))
        elif one.kind == "streams":
            if not {*one.odd} <= {0} and len(one.odd) < last:
                told.append(_tell_streams(one, last, members))
        elif one.kind == "attributes":
            if not re.search(_ATTRIBUTES_SAID, text) and not any(map(text.__contains__, numbers)):
                told += tell_numbers(members, (*said, *told)) or [_tell_attributes(members)]
        elif not _is_said_of_ends(one.odd, text, last):
            told.append(_tell_widths(members, text) or _tell_lengths(repeat, members, text))
    told = [_tell_stored(repeat) if text == _STORED else text for text in told]
    return [*filter(None, dict.fromkeys(told))]


def _tell_stored(repeat: Group) -> str:
    """Return from how many learned tokens a stream starts, where it is certain that it does.

    As latents and queries do (A. Jaegle and others, Perceiver, 2021, section 3.1). Zeros that a
    stream starts from were not learned.
    """
    first = repeat.children[0]
    given = {*find_ports(first).given} if isinstance(first, Group) else set()
    dims = given.pop() if len(given) == 1 else ()
    if len(dims) != _SEQUENCE or dims[1] < 2 or not isinstance(first, Group):
        return _STORED
    nodes = list_member_nodes(first, _MOST_COMPARED)
    values = {value for node in nodes for value in node.inputs if value is not None}
    is_learned = any(_varies(value, dims[1]) for value in values if is_input_independent(value))
    return f"the first from {dims[1]:,} learned tokens" if is_learned else _STORED


def _varies(value: Value, count: int) -> bool:
    """Return whether a value holds so many rows of stored numbers that are not all the same."""
    origin = find_origin(value)
    tensor = origin.tensor if origin is not None else None
    if origin is None or not isinstance(tensor, Tensor) or tensor.size > _MOST_STORED:
        return False
    if not tensor.dtype.is_float or len(tensor.dims) < 2 or tensor.dims[-2] != count:
        return False
    try:
        stored = tensor.numpy()
        return bool((stored != stored.flat[0]).any())
    except (NetloupeError, TypeError, ValueError):
        return False


def _is_said_of_ends(odd: Sequence[int], text: str, last: int) -> bool:
    """Return whether something is said of just these members, or of how many there are of which."""
    if re.search(_SOME, text):
        return True
    ends = {0} if "the first" in text else set[int]()
    if "the last" in text or "to the next part" in text:
        ends.add(last)
    # what all but an end have is said of that end
    return {*odd} <= ends or {*range(last + 1)} - {*odd} <= ends


def _names_activations(difference: Difference, text: str) -> bool:
    """Return whether only activations differ, and each of them is named."""
    nodes = (*difference.more, *difference.fewer)
    return all(ACTIVATIONS.get(node.op_type, "\0") in text for node in nodes)


def _tell_operators(one: Difference, members: Sequence[Sequence[Node]], shown: int) -> str:
    last = len(members) - 1
    if one.odd == (0,) and not one.more and begins_stored(members):
        return _STORED
    which, more, fewer = _say_which(one.odd, last, shown), one.more, one.fewer
    is_shown = which.startswith("only")
    if is_shown:
        more, fewer = fewer, more
    left = Counter(map(_name, members[shown if is_shown else one.odd[0]]))
    others = Counter(map(_name, members[one.odd[0] if is_shown else shown]))
    if all(node.operator.has(*_PLACING) for node in (*more, *fewer)):
        return f"{which} arranged differently"
    if more and fewer:
        names = [{*map(_name, side)} for side in (more, fewer)]
        if all(len(side) == 1 for side in names) and names[0] != names[1]:
            ours, theirs = names[0].pop(), names[1].pop()
            for one_name, other, word in ((ours, theirs, "with"), (theirs, ours, "without")):
                if one_name.endswith(f" + {other}"):  # fused with what stands before
                    return f"{which} {word} {_lower(one_name.removesuffix(f' + {other}'))}"
            return f"{which} with {ours} instead of {theirs}"
        return f"{which} with {_list_some(more)} instead of {_list_some(fewer)}"
    if more:
        return f"{which} with {_count(more, others, ' more') or _list_some(more)}"
    return f"{which} without {_count(fewer, left, '') or _list_some(fewer)}"


def _is_trace(one: Difference, members: Sequence[Sequence[Node]], shown: int) -> bool:
    """Return whether only what rearranges values is there or not, without any weight.

    Or experts that an exporter wrote where its example was sent to them.
    """
    beside = (*one.more, *one.fewer)
    if all(node.operator.has(*_OF_EXPORTS) and find_weight(node) is None for node in beside):
        return True
    smaller = members[shown if one.more else one.odd[0]]
    return not (one.more and one.fewer) and are_of_example(beside, smaller)


def _list_some(nodes: Sequence[Node]) -> str:
    """Return the most telling of several kinds of nodes, and that there are others."""
    counts = _count_names(nodes)
    listed = ", ".join([*counts][:_MOST_NAMES])
    return f"{listed}, …" if len(counts) > _MOST_NAMES else listed


def _count_names(nodes: Sequence[Node]) -> Counter[str]:
    """Return how many nodes have which names: of those with weights, or else of what computes."""
    weighted = [node for node in nodes if find_weight(node) and _name(node) not in _NORMS.values()]
    telling = [node for node in nodes if not node.operator.has(*ARRANGING_TRAITS, "gathers")]
    return Counter(map(_name, weighted or telling or nodes))


def _count(nodes: Sequence[Node], others: Counter[str], word: str) -> str:
    """Return what there is beside others in words; "" where that is too much to tell."""
    counts = _count_names(nodes)
    if len(counts) > _MOST_NAMES:
        return ""
    if not any(others[name] for name in counts):
        return " and ".join(counts)
    each = (f"{'one' if count == 1 else count}{word} {name}" for name, count in counts.items())
    return " and ".join(each)


def _name(node: Node) -> str:
    """Return what the field calls what a node does, as far as that is short."""
    known = ACTIVATIONS.get(node.op_type) or _NORMS.get(node.op_type)
    if known:
        return known
    operator = node.operator
    if operator.has("multiplies"):
        return "linear" if find_weight(node) is not None else "matrix product"
    for trait, name in _ARITHMETIC.items():
        if operator.has(trait):
            return name
    return node.op_type


def _lower(name: str) -> str:
    return name[0].lower() + name[1:]


def _say_which(odd: Sequence[int], last: int, shown: int) -> str:
    """Return which members differ: ``the first``, ``the last 2``, ``every second``."""
    count = len(odd)
    if count == last and last > 1:
        ends = {0: "only the first", last: "only the last"}
        return ends.get(shown, f"only number {shown + 1}")
    if [*odd] == [0, last] and last > 1:
        return "the first and the last"
    if odd[-1] - odd[0] == count - 1 and odd[0] == 0:
        return "the first" if count == 1 else f"the first {count}"
    if odd[-1] - odd[0] == count - 1 and odd[-1] == last:
        return "the last" if count == 1 else f"the last {count}"
    if _are_in_turns(odd, last):
        return "every second"
    return f"{count} of {last + 1}"


def _are_in_turns(odd: Sequence[int], last: int) -> bool:
    return len(odd) > 1 and [*odd] in ([*range(0, last + 1, 2)], [*range(1, last + 1, 2)])


def _tell_wiring(odd: Sequence[int], members: Sequence[Sequence[Node]], shown: int) -> str:
    """Return which members are wired otherwise, or what a first one begins with."""
    last = len(members) - 1
    if [*odd] == [0] or (shown == 0 and len(odd) == last):
        starts = list_starts(members[0], members[1])
        if starts and all(node.operator.has("adds") for node in starts):
            return "the first begins the sum"
        if starts or begins_stored(members):
            return _STORED
    return f"{_say_which(odd, last, shown)} wired differently"


def _tell_heads(repeat: Group, odd: Sequence[int], shown: int) -> str:
    """Return which members have how many other heads of attention; "" where they differ otherwise.

    Heads of other widths may be turned by their positions in another way.
    """
    found: list[set[int]] = []
    for place in (shown, *odd):
        child = repeat.children[place]
        parts = child.contents if isinstance(child, Group) else ()
        known = (one.details.read_as(TransformerDetails).attention or one.details for one in parts)
        heads = (one.read_as(AttentionDetails).heads for one in known)
        found.append({count for count in heads if count is not None})
    own, *others = found
    if len(own) != 1 or any(one != others[0] or len(one) != 1 for one in others) or own in others:
        return ""
    which = _say_which(odd, len(repeat.children) - 1, shown)
    (count,) = own if which.startswith("only") else others[0]
    return f"{which} with {count:,} heads"


def _tell_streams(one: Difference, last: int, members: Sequence[Sequence[Node]]) -> str:
    """Return where members attend to their own stream, and where to another one."""
    attend = all(
        any(node.operator.has("attends", "distributes") for node in members[place])
        for place in (one.odd[0], last)
    )
    if not attend or bool(one.more) == bool(one.fewer):
        return "different streams taken"
    if _are_in_turns(one.odd, last):
        return "self and cross alternate"
    crossing = len(one.odd) if one.more else last + 1 - len(one.odd)
    return f"cross-attention in {crossing} of {last + 1}"


def _tell_attributes(members: Sequence[Sequence[Node]]) -> str:
    """Return which numbers of convolutions and pools change over members, and how."""
    for name, what in _ATTRIBUTES.items():
        course = [
            max((max(read_ints(node, name), default=1) for node in nodes), default=1)
            for nodes in members
        ]
        if len({*course}) > 1:
            return f"{what} {write_each_number(course)}"
    heads = [[read_int(node, "num_heads") for node in nodes] for nodes in members]
    if any(own != heads[0] for own in heads):
        return "different numbers of heads"
    return "different settings"


def _tell_widths(members: Sequence[Sequence[Node]], text: str) -> str:
    """Return how many features members take where that changes, or else that widths do.

    What the last layer in a file gives need not be what a member with branches gives.
    """
    taken, given = zip(*map(read_ends, members), strict=True)
    known = [width for width in taken if width is not None]
    if len({*taken}) > 1:
        if any(sign in text for sign in _WIDTHS_SAID):
            return ""
        if len(known) < len(taken):
            return _WIDTHS
        course = write_each_number(known)
        return f"{course} rows" if _are_tables(members) else f"takes {course}"
    if len({*given}) > 1:
        return "" if any(sign in text for sign in _WIDTHS_SAID) else _WIDTHS
    return _INNER if _have_other_weights(members) and "different" not in text else ""


def _have_other_weights(members: Sequence[Sequence[Node]]) -> bool:
    """Return whether layers of members take or give other widths.

    How many there are of a width is told of the parts that some have and others have not.
    """
    found = [{weight.features for weight in map(find_weight, nodes) if weight} for nodes in members]
    return any(own != found[0] for own in found)


def _tell_lengths(repeat: Group, members: Sequence[Sequence[Node]], text: str) -> str:
    """Return how long the sequences are that members take, where nothing of their weights differs.

    As where a distilling convolution halves them between layers (H. Zhou and others, Informer,
    2021, section 3.2).
    """
    if "length" in text or _have_other_weights(members):
        return ""
    lengths: list[int] = []
    for child in repeat.children:
        taken = find_ports(child).taken if isinstance(child, Group) else ()
        own = {dims[1] for dims in taken if len(dims) == _SEQUENCE}
        lengths += own if len(own) == 1 else ()
    is_known = len(lengths) == len(members) and len({*lengths}) > 1
    return f"length {write_each_number(lengths)}" if is_known else ""


def _are_tables(members: Sequence[Sequence[Node]]) -> bool:
    """Return whether all that members hold of weights is rows to look up."""
    weights = [weight for nodes in members for node in nodes if (weight := find_weight(node))]
    return all(weight.kind == "embedding" for weight in weights)
