"""What a group holds in a few words: its operators, and the family that they make it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.stack_facts import StackDetails
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.notation import write_count, write_counts, write_span
from netloupe.explorer.patterns import has_projection
from netloupe.explorer.view import nodes_inside

from .category import category_of_operator
from .sizes import TEXT_STYLES
from .text import clean_label, measure_text

_FAMILIES_THAT_MOVE_DATA = frozenset(("shape", "generator", "logic", "quantization"))
#: parts of a module's class or a group's name that tell what it does; first match counts
_GROUP_HINTS = (
    ("norm", "normalization"),
    ("ln_", "normalization"),
    ("attention", "attention"),
    ("attn", "attention"),
    ("lstm", "recurrent"),
    ("gru", "recurrent"),
    ("relu", "activation"),
    ("gelu", "activation"),
    ("softmax", "activation"),
    ("activation", "activation"),
    ("conv", "linear"),
    ("linear", "linear"),
)
MOST_NODES_OF_ONE_FAMILY = 12
#: a face names so many stacks at most, looked for among so many things inside
_MOST_STACKS = 2
_MOST_LOOKED_AT = 2_000
_FAMILIES_WITH_WEIGHTS = frozenset(("linear", "normalization", "recurrent", "attention"))


def name_operators(operators: Sequence[tuple[str, str]], room: float, most: int = 3) -> str:
    """Return the first operators with how often they occur, as many as fit into a width in pixels.

    ``operators`` are names, and texts as :func:`count_each` returns them.
    """
    listed = ""
    for index, (op_type, times) in enumerate(operators):
        longer = ", ".join(filter(None, (listed, clean_label(op_type, 24) + times)))
        width = measure_text(longer + ", …", *TEXT_STYLES["muted"])
        if index >= most or (listed and width > room):
            return listed + ", …"
        listed = longer
    return listed


def name_stacks(group: Group) -> str:
    """Return the stacks of known blocks that a group holds: ``Transformer block ×12``.

    It is "" where there is none, and where a stack inside is of blocks that are not known.
    """
    names: list[str] = []
    pending: list[Group | Node] = [group]
    looked_at = 0
    while pending:
        child = pending.pop()
        if not isinstance(child, Group) or child.is_beside:
            continue
        looked_at += len(child.children)
        if looked_at > _MOST_LOOKED_AT:
            return ""
        if child.kind != "repeat":
            pending.extend(reversed(child.children))
            continue
        if child.recognised is None or len(names) == _MOST_STACKS:
            return ""
        names.append(f"{child.recognised.name} ×{len(child.children):,}")
    return " · ".join(names)


def count_operators(element: Group | Graph | Node) -> Counter[tuple[str, str]]:
    """Return how many nodes inside have which domain and op_type, shape arithmetic left out."""
    return Counter((node.domain, node.op_type) for node in _list_computing(element))


def _list_computing(element: Group | Graph | Node) -> Iterator[Node]:
    """Yield the nodes inside, without those of shape arithmetic unless it is all that is asked."""
    if isinstance(element, Graph):
        yield from element.nodes
        return
    pending = [element]
    while pending:
        child = pending.pop()
        if isinstance(child, Node):
            yield child
        elif child.kind != "shape" or child is element:
            pending.extend(child.children)


def write_member_nodes(repeat: Group) -> str:
    """Return how many nodes the repetitions of a repeat hold: ``10 nodes each``.

    Where only the first or the last differs it is said: ``10 nodes each, the first 12 with
    projection``, or ``the first has 3 nodes, the others 2``.
    """
    sizes = _list_sizes(repeat)
    place = _find_odd_end(repeat)
    if place is None:
        return f"{write_counts(sizes, 'node')} each"
    which, others = "last" if place else "first", sizes[place - 1]
    if _differs_by_projection(repeat, place):
        counted = write_count(others, "node")
        return f"{counted} each, the {which} {sizes[place]:,} with projection"
    counted = write_count(sizes[place], "node")
    return f"the {which} has {counted}, the other{'s' if len(sizes) > 2 else ''} {others:,}"


def write_difference(repeat: Group) -> str:
    """Return in which way repetitions differ in kind or in size; "" where they do not.

    For example ``8 experts in 4 of 6``, ``the first with projection``, or ``10 to 12 nodes each``.
    """
    kinds = write_kinds(repeat)
    if kinds:
        return kinds
    sizes = _list_sizes(repeat)
    if len({*sizes}) == 1:
        return ""
    place = _find_odd_end(repeat)
    if place is not None and _differs_by_projection(repeat, place):
        return f"the {'last' if place else 'first'} with projection"
    return write_member_nodes(repeat)


def write_kinds(repeat: Group) -> str:
    """Return what some repetitions have and others have not, as far as it is known what they are.

    For example ``SwiGLU 64 → 128 → 64 in 2, 8 experts in 4``.
    """
    found = repeat.recognised
    return found.details.read_as(StackDetails).kinds if found is not None else ""


def write_others(repeat: Group, shown: int) -> str:
    """Return in which way other repetitions differ in size from the one that is shown.

    Where only the first or the last does, it is said of it. It is "" where that is shown.
    """
    place = _find_odd_end(repeat)
    if place is None:
        return write_difference(repeat)
    if place == shown:
        return ""
    which = "last" if place else "first"
    if _differs_by_projection(repeat, place):
        return f"the {which} with projection"
    return f"the {which} has {write_count(count_member_nodes(repeat.children[place]), 'node')}"


def _find_odd_end(repeat: Group) -> int | None:
    """Return the first or the last place where it alone has another size.

    Of thousands of repetitions only as many are looked at as are needed to tell.
    """
    children = repeat.children
    first, second, last = (count_member_nodes(children[place]) for place in (0, 1, -1))
    if first != second and _have_size(islice(children, 1, None), second):
        return 0
    if last != first and _have_size(islice(children, len(children) - 1), first):
        return len(children) - 1
    return None


def _have_size(children: Iterable[Group | Node], size: int) -> bool:
    return all(count_member_nodes(child) == size for child in children)


def _differs_by_projection(repeat: Group, place: int) -> bool:
    """Return whether a repetition has a convolution on its shortcut, and another one has none."""
    odd, other = repeat.children[place], repeat.children[place - 1]
    return (
        isinstance(odd, Group)
        and isinstance(other, Group)
        and has_projection(nodes_inside(odd))
        and not has_projection(nodes_inside(other))
    )


def _list_sizes(repeat: Group) -> list[int]:
    """Return how many nodes each repetition holds, of a million of them too."""
    if not repeat.inner_groups():
        return [1] * len(repeat.children)
    return [*map(count_member_nodes, repeat.children)]


def count_member_nodes(child: Group | Node) -> int:
    """Return how many nodes a group holds; 1 for a node."""
    return child.node_count if isinstance(child, Group) else 1


def count_each(shown: Sequence[Group | Graph | Node]) -> list[tuple[str, str]]:
    """Return operators and how often each of several things holds them: "", `` ×4``, `` ×2 to 4``.

    What not all of them hold is there `` in some``.

    Operators that move data are named only where there are no others.
    """
    alone = {(one.domain, one.op_type): one for one in shown if isinstance(one, Node)}
    distinct = [*alone.values(), *(one for one in shown if not isinstance(one, Node))]
    held = {frozenset(count_operators(one).items()) for one in distinct}
    chosen = [dict(choose_operators(Counter(dict(counts)))) for counts in held]
    total: Counter[str] = Counter()
    for counts in chosen:
        total.update(counts)
    listed = []
    for op_type, _ in sorted(total.items(), key=lambda entry: (-entry[1], entry[0])):
        times = [counts.get(op_type, 0) for counts in chosen]
        found = [count for count in times if count]
        number = "" if {*found} == {1} else f" ×{write_span(found)}"
        listed.append((op_type, number + (" in some" if len(found) < len(times) else "")))
    return listed


def choose_operators(operators: Counter[tuple[str, str]]) -> list[tuple[str, int]]:
    """Return operators with their counts: those that move data only where there are no others."""
    telling = {
        operator: count
        for operator, count in operators.items()
        if category_of_operator(*operator) not in _FAMILIES_THAT_MOVE_DATA
    }
    counts: Counter[str] = Counter()
    for (_, op_type), count in (telling or operators).items():
        counts[op_type] += count
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return [entry for entry in ordered if entry[0] != "Constant"]


def category_of_group(label: str, type_name: str, element: Group | Graph | Node) -> str:
    """Return the family of a closed group.

    The module's class or the group's name tells it (``GPT2Attention``, ``ln_1``), or its
    nodes with weights do where it has few, all of one family; otherwise it is ``group``.
    """
    for name in (type_name, label.rsplit(" / ", 1)[-1]):
        lowered = name[-200:].lower()
        for part, category in _GROUP_HINTS:
            if part in lowered:
                return category
    nodes = [*islice(_list_computing(element), MOST_NODES_OF_ONE_FAMILY + 1)]
    if len(nodes) > MOST_NODES_OF_ONE_FAMILY:
        return "group"
    families = {category_of_operator(node.domain, node.op_type) for node in nodes}
    families &= _FAMILIES_WITH_WEIGHTS
    return families.pop() if len(families) == 1 else "group"
