"""What repetitions hand from one to the next, as one that is shown takes and gives it.

The main stream of a stack comes in at its border and leaves at it. A sum that begins in the first
repetition, a state whose start is zero, and what the last one does not give any more have nothing
outside that stands for them: they have ports of their own. Of a loop all of these share one port
where they come in and one where they leave.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import chain

from netloupe.explorer.dataflow import find_source
from netloupe.explorer.model import Value
from netloupe.explorer.operators import LAYOUT_TRAITS

from .carried_names import (
    OUTPUT,
    RESIDUALS,
    SKIPS,
    SUM,
    find_output_name,
    name_handed,
)
from .item import Carried, Item
from .repetitions import Correspondence, Handed, Repetitions
from .stubs import join_ports


def match_stream(repetitions: Repetitions, item: Item) -> dict[Value, Value]:
    """Return the value handed on that stands for what the first repetition takes otherwise.

    Before the node that takes it there, others move or cast it: it comes in at another place.
    """
    found = repetitions.correspond(item.shown)
    taken = {one.taken for one in found.handed}.intersection(found.only_from_others)
    known = set(found.bindings.values())
    free = [port for port in item.inputs if taken and known.isdisjoint(item.members(port))]
    return {
        source: port
        for port in free
        for value in repetitions.list_moved(item.shown, port)
        if (source := find_source(value, *LAYOUT_TRAITS)) is not None and source in taken
    }


def gather_carried(
    shown: Correspondence,
    typical: Correspondence,
    streams: Collection[Value],
    describe: Callable[[Value], str],
    *,
    is_loop: bool,
) -> Carried:
    """Return what is carried on, by how repetitions correspond to their repeat.

    Parameters
    ----------
    shown
        The repetition that is shown.
    typical
        One that has others before and behind it, where there is such a one.
    streams
        What has a port of the repeat although it comes from another repetition.
    describe
        Says of a value what it is where what is done with it does not tell.
    is_loop
        Whether these are the steps of a loop.
    """
    names = _name_all(shown.handed, typical, describe, is_loop=is_loop)
    taken = [one.taken for one in shown.handed]
    given = [one.given for one in shown.handed]
    from_others = {*shown.only_from_others}.difference(streams)
    outside = [typical.bindings.get(one.taken) for one in typical.handed if one.taken is not None]
    starts = frozenset(filter(None, outside))
    entering = _share_port(taken, from_others, is_one=is_loop)
    leaving = _share_port(given, shown.only_to_others, is_one=is_loop)
    if not is_loop:
        return Carried(entering, leaving, names, starts=starts)
    start = next(iter(entering.values()), None)
    end = next(iter(leaving.values()), None)
    if start is None:
        start = next(filter(None, outside), None)
    results = [typical.results.get(one.given, ()) for one in typical.handed if one.given]
    ends = [*chain.from_iterable(results)]
    end = end or next(iter(ends), None)
    told = (names[one] for one in (*given, *taken) if one is not None)
    told_once = tuple(dict.fromkeys(filter(None, told)))
    return Carried(entering, leaving, names, told_once, start, end, starts, frozenset(ends))


def join_entering(children: Sequence[Item], carried: Carried) -> None:
    """Give children one port for what comes in together."""
    together = [value for value, port in carried.entering.items() if port is not value]
    if together:
        values = [carried.entering[together[0]], *together]
        for child in children:
            child.inputs = join_ports(child, child.inputs, child.outputs, values)


def _name_all(
    shown: Sequence[Handed],
    typical: Correspondence,
    describe: Callable[[Value], str],
    *,
    is_loop: bool,
) -> dict[Value, str]:
    """Return what each value is that is handed on."""
    told = name_handed(typical.handed)
    known = dict(zip((one.slot for one in typical.handed), told, strict=True))
    starts: dict[Value, str] = {}
    for one in typical.handed:
        value = one.given if one.given is not None else one.taken
        name = known[one.slot]
        if is_loop and name in (RESIDUALS, SKIPS):
            results = typical.results.get(value, ()) if value is not None else ()
            name = next(filter(None, map(find_output_name, results)), SUM)
        if is_loop and not name and len(typical.handed) == 1:
            name = OUTPUT
        if is_loop and not name and value is not None and typical.results.get(value):
            name = OUTPUT
        if is_loop and not name and value is not None:
            name = describe(value)  # where a stack hands it on, the line says where it comes from
        known[one.slot] = name
        start = typical.bindings.get(one.taken) if one.taken is not None else None
        if is_loop and start is not None:
            starts[start] = name
    names: dict[Value, str] = {}
    for one in shown:
        for value in (one.taken, one.given):
            if value is not None:
                names[value] = known.get(one.slot) or (describe(value) if is_loop else "")
    return starts | names


def _share_port(
    values: Sequence[Value | None], others: Collection[Value], *, is_one: bool
) -> dict[Value, Value]:
    """Return those of some values that only other repetitions know, each with its port."""
    alone = [value for value in values if value is not None and value in others]
    return {value: alone[0] if is_one else value for value in alone}
