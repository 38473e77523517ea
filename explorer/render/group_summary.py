"""What a group holds in a few words: its operators, and the family that they make it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.stack_changes import list_changes, list_numbers_told
from netloupe.explorer.grouping.stack_facts import StackDetails
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.notation import write_span

from .category import moves_data
from .given_words import tell_read_outside
from .member_words import tell_unsaid
from .sizes import TEXT_STYLES
from .text import clean_label, measure_text

#: the longest line that tells how blocks differ
_MOST_LINE = 232.0


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


def count_operators(element: Group | Graph | Node) -> Counter[tuple[str, str]]:
    """Return how many nodes inside have which domain and op_type, shape arithmetic left out."""
    return Counter((node.domain, node.op_type) for node in list_computing(element))


def list_computing(element: Group | Graph | Node) -> Iterator[Node]:
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


def write_difference(repeat: Group, shown: int | None = None) -> str:
    """Return what changes over the repetitions of a repeat, in words; "" where that is nothing.

    For example ``8 experts in 4 of 6``, ``dilation 1 … 32``, or ``the first with projection``.

    Parameters
    ----------
    repeat
        The repeat.
    shown
        Which of its repetitions is shown, of which is not said how it differs from others; None
        where all are closed.
    """
    return ", ".join(_list_changes(repeat, shown))


def list_end_differences(
    repeat: Group, shown: int | None = None, said: Sequence[str] = ()
) -> list[str]:
    """Return what :func:`write_difference` does in lines that fit into a closed box, if they can.

    Each statement stands in one line. What else members differ in is told behind it, if nothing
    that is said besides tells it.
    """
    lines: list[str] = []
    told = _list_changes(repeat, shown)
    given = tell_read_outside(repeat)
    for text in (*told, *tell_unsaid(repeat, shown, (*said, *told)), *filter(None, (given,))):
        longer = f"{lines[-1]}, {text}" if lines else text
        if lines and measure_text(longer, *TEXT_STYLES["muted"]) <= _MOST_LINE:
            lines[-1] = longer
        else:
            lines.append(text)
    return lines


def _list_changes(repeat: Group, shown: int | None) -> list[str]:
    """Return which kinds of repetitions there are, and the numbers that differ, or all changes."""
    kinds = write_kinds(repeat)
    return [kinds, *list_numbers_told(repeat, [kinds])] if kinds else list_changes(repeat, shown)


def write_kinds(repeat: Group) -> str:
    """Return what some repetitions have and others have not, as far as it is known what they are.

    For example ``SwiGLU 64 → 128 → 64 in 2, 8 experts in 4``.
    """
    found = repeat.recognised
    return found.details.read_as(StackDetails).kinds if found is not None else ""


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
        operator: count for operator, count in operators.items() if not moves_data(*operator)
    }
    counts: Counter[str] = Counter()
    for (_, op_type), count in (telling or operators).items():
        counts[op_type] += count
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return [entry for entry in ordered if entry[0] != "Constant"]
