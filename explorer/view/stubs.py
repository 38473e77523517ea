"""Stubs: a labelled pill beside a consumer in place of an edge that would spoil the picture.

Hubs are values with many consumers at one level: drawn as edges, one shared mask bends the
whole picture; two of them made the layout of a 1,000-node model 29 times slower. Far values
are those whose edges would run beside everything in between; a residual connection around one block
stays an edge, and so do a few skip connections that lie one in the other, which are drawn as a U.
Side values go into several stages of the main stream without being part of it: a time embedding,
the states of an encoder. The edge that carries the main stream is never replaced.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Node, Value

from .families import name_family
from .item import BORDER, Item, Link
from .links import list_link_kinds, list_links

#: a value with more consumers than this at one level is a hub
MOST_EDGES = 8
#: a value that goes into so many stages, one behind another, from beside is a side value,
LEAST_STAGES = 4
#: which is looked for among so many boxes at most: with more, hubs and far values are told apart
MOST_BESIDE = 400
#: and is computed by so many nodes at most
MOST_ORIGINS = 2_000
#: of what takes no elements
_TAKING_NONE = ("reads_shape", "stores_constant")
#: a box with more than so many values that stubs stand for has one for all of the same ends
MOST_STUBS = 8
#: an edge that passes more boxes than this is far where others run beside it,
FAR = 12
#: and one that passes more than this always
FAR_ALONE = 30
#: so many other far edges make a bundle
BUNDLE = 2
#: at most so many stubs for each box: where all edges are far, none stands out
MOST_STUBS_PER_BOX = 0.5
#: so many far edges may lie one in the other, as the skips of an encoder-decoder do
MOST_NESTED = 12
#: so many far values at once are compared; with more, all of them run beside others anyway
MOST_ACTIVE = 100


def add_stubs(item: Item, *, is_root: bool) -> None:
    """Add stubs for hubs and far values inside a newly opened item.

    Parameters
    ----------
    item
        The item, with its other children made.
    is_root
        Whether it is the outermost one, which has no border.
    """
    carried = list_carried(item)
    consumers: dict[Value, list[int]] = {}
    for index, child in enumerate(item.children):
        for value in child.inputs:
            if value in carried:
                continue
            if value not in child.merged and (child.key, value) not in item.stubs:
                consumers.setdefault(value, []).append(index)
    hubs = {
        value: _without_main(item.children, value, found)
        for value, found in consumers.items()
        if len(found) > MOST_EDGES
    }
    _replace_edges(item, hubs)
    if LEAST_STAGES < len(item.children) <= MOST_BESIDE:
        staged = [
            value for value, found in consumers.items() if LEAST_STAGES <= len(found) <= MOST_EDGES
        ]
        if staged:
            _replace_edges(item, _find_side(item, staged, _list_inner_links(item, is_root)))
    if len(item.children) > FAR:
        far = _find_far(item, is_root)
        _replace_edges(item, {value: ends for value, ends in far.items() if value not in carried})


def list_carried(item: Item | None) -> dict[Value, str]:
    """Return what the repetitions around hand on, and what it is; it is drawn as edges."""
    found: dict[Value, str] = {}
    while item is not None:
        found = {**item.carried.names, **found}
        item = item.parent
    return found


def _without_main(children: Sequence[Item], value: Value, found: list[int]) -> list[int]:
    """Return the consumers of a hub but for the one that the main stream leads to, if any does.

    That one takes nothing else, while all the others do.
    """
    main = [
        index for index in found if {*children[index].values_at(children[index].inputs)} == {value}
    ]
    return [index for index in found if index != main[0]] if len(main) == 1 else found


def _find_side(
    item: Item, staged: Iterable[Value], links: Sequence[Link]
) -> dict[Value, list[int]]:
    """Return those of some values that go into stages of the main stream from beside.

    The stages stand one behind another, and each takes something else too; what the value is
    computed from serves for nothing else.
    """
    children = item.children
    ranks = _rank(len(children), links)
    found: dict[Value, list[int]] = {}
    for value in staged:
        stages = {
            link.target
            for link in links
            if link.value is value and children[link.target].kind != "output"
        }
        fed = {link.target for link in links if link.value is not value}
        are_staged = stages <= fed and len({ranks[end] for end in stages}) >= LEAST_STAGES
        if are_staged and _stands_beside(value):
            found[value] = sorted(stages)
    return found


def _stands_beside(value: Value) -> bool:
    """Return whether all that a value is computed from serves for it alone.

    Shapes of something else that it is made to fit do not count.
    """
    origins: dict[Node, None] = {}
    given = {value: None}
    pending = [value]
    while pending:
        producer = pending.pop().producer
        if producer is None or producer in origins:
            continue
        origins[producer] = None
        if len(origins) > MOST_ORIGINS:
            return False
        for taken in () if producer.operator.has(*_TAKING_NONE) else producer.inputs:
            if taken is not None and taken.initializer is None and taken not in given:
                given[taken] = None
                pending.append(taken)
    computed = [
        other
        for other in given
        if other is not value
        and not (other.producer and other.producer.operator.has(*_TAKING_NONE))
    ]
    return all(user in origins for other in computed for user in other.users)


def add_stubs_of_others(
    item: Item, children: list[Item], taken: Iterable[Value], given: Iterable[Value]
) -> None:
    """Add stubs for what a repetition exchanges with others that are not shown.

    Parameters
    ----------
    item
        The open repeat.
    children
        What is in the repetition; the stubs are appended.
    taken, given
        Values from and for other repetitions that have no counterpart at the repeat's border.
    """
    wanted, spare = set(taken), set(given)
    for child in list(children):
        for port in child.inputs:
            values = tuple(value for value in child.members(port) if value in wanted)
            if values:
                stub = _make_stub(item, values, f"to {child.key}")
                stub.outputs = values[:1]
                for value in values:
                    item.stubs[child.key, value] = len(children)
                children.append(stub)
        for port in child.outputs:
            values = tuple(value for value in child.members(port) if value in spare)
            if values:
                stub = _make_stub(item, values, "for other repetitions")
                stub.inputs = values[:1]
                children.append(stub)


def _replace_edges(item: Item, replaced: dict[Value, list[int]]) -> None:
    """Put a stub beside each of some consumers of values, and one beside what gives these."""
    if not replaced:
        return
    given = {
        value: child
        for child in item.children
        if child.kind != "stub"
        for port in child.outputs
        for value in child.members(port)
    }
    known = {child.key for child in item.children if child.kind == "stub"}
    #: what a box of preparation gives to the same boxes is one thing to a reader
    together: dict[Value, tuple[str, tuple[int, ...]]] = {}
    for value, found in replaced.items():
        element = given[value].element if value in given else None
        if isinstance(element, Group) and element.kind == "preparation":
            together[value] = given[value].key, tuple(found)
    spread: dict[tuple[str, tuple[int, ...]], list[Value]] = {}
    for value, found in replaced.items():
        source = given.get(value, item)  # what nothing inside gives comes in at the border
        if source.is_terminal:
            source.stub_takers |= set(found)
        else:
            spread.setdefault((source.key, tuple(found)), []).append(value)
    sources = {child.key: child for child in item.children}
    for (key, ends), values in spread.items():
        for piece in _pieces(values, together):
            stub = _make_stub(item, piece, f"from {key}")
            stub.inputs = (piece[0],)
            stub.of_one |= {piece[0]} & together.keys()
            stub.stub_takers = frozenset(ends)
            if stub.key not in known:
                item.children.append(stub)
                if key in sources:
                    source = sources[key]
                    source.outputs = join_ports(source, source.outputs, source.inputs, piece)
    wanted: dict[int, list[Value]] = {}
    for value, found in replaced.items():
        for index in found:
            wanted.setdefault(index, []).append(value)
    for index, taken in wanted.items():
        child = item.children[index]
        for piece in _pieces(taken, together):
            stub = _make_stub(item, piece, f"to {child.key}")
            stub.outputs = (piece[0],)
            stub.of_one |= {piece[0]} & together.keys()
            for value in piece:
                item.stubs[child.key, value] = len(item.children)
            item.children.append(stub)
            child.inputs = join_ports(child, child.inputs, child.outputs, piece)


def join_ports(
    child: Item, ports: tuple[Value, ...], others: tuple[Value, ...], values: Sequence[Value]
) -> tuple[Value, ...]:
    """Return the ports of a child with one for some values that come from the same place."""
    free = set(ports).difference(others)
    joined = [value for value in values if value in free]
    are_alike = len(set(list_link_kinds(child, joined))) == 1
    if len(joined) < 2 or not are_alike or not child.merged.keys().isdisjoint(joined):
        return ports
    child.merged = {**child.merged, joined[0]: tuple(joined)}
    gone = set(joined[1:])
    return tuple(port for port in ports if port not in gone)


def _pieces(
    values: list[Value], together: Mapping[Value, tuple[str, tuple[int, ...]]]
) -> list[list[Value]]:
    """Return which values have a stub together: many of the same ends all, few each its own."""
    if len(values) > MOST_STUBS:
        return [values]
    pieces: dict[object, list[Value]] = {}
    for value in values:
        pieces.setdefault(together.get(value, value), []).append(value)
    return [*pieces.values()]


def _make_stub(item: Item, values: Sequence[Value], place: str) -> Item:
    """Return a stub for a value, or for a family of values that go together."""
    body = item.body
    value = values[0]
    assert body is not None  # noqa: S101 - open items have a body
    path = f"{body.prefix}/%{value.key}" if value.graph is body.graph else value.path
    label = name_family([member.name for member in values])
    stub = Item("stub", path, value, body, item, key=f"{path} {place}", label=label)
    if len(values) > 1:
        stub.merged = {value: tuple(values)}
    return stub


def _find_far(item: Item, is_root: bool) -> dict[Value, list[int]]:
    """Return the values whose edges pass too many boxes, with the consumers at the far ends."""
    children = item.children
    links = _list_inner_links(item, is_root)
    ranks = _rank(len(children), links)
    far: dict[Value, list[int]] = {}
    spans: dict[Value, tuple[int, int]] = {}
    for link in links:
        start = ranks[link.source] if link.source != BORDER else -1
        end = ranks[link.target]
        target = children[link.target]
        movable = link.value in target.merged or (
            link.source != BORDER and link.source_value in children[link.source].merged
        )
        if end - start > FAR and target.kind != "stub" and not movable and link.count == 1:
            far.setdefault(link.value, []).append(link.target)
            low, high = spans.get(link.value, (start, end))
            spans[link.value] = (min(low, start), max(high, end))
    nested = _find_nested({value: spans[value] for value in far if len(far[value]) == 1})
    for value in nested if 2 * len(nested) >= len(far) else ():
        del far[value], spans[value]
    bundled = _count_beside(spans)
    chosen = {
        value: found
        for value, found in far.items()
        if bundled[value] >= BUNDLE or spans[value][1] - spans[value][0] > FAR_ALONE
    }
    if sum(map(len, chosen.values())) > MOST_STUBS_PER_BOX * len(children):
        return {}
    return chosen


def _find_nested(spans: Mapping[Value, tuple[int, int]]) -> list[Value]:
    """Return those far values of which each begins before another one and ends behind it.

    That is the most of them; nothing where they are many.
    """
    ordered = sorted(spans, key=lambda value: (spans[value][0], -spans[value][1]))
    if not 1 < len(ordered) <= 2 * MOST_NESTED:
        return []
    longest: list[list[Value]] = []
    for number, value in enumerate(ordered):
        before = [
            longest[other]
            for other in range(number)
            if spans[ordered[other]][0] < spans[value][0]
            and spans[ordered[other]][1] > spans[value][1]
        ]
        longest.append([*max(before, key=len, default=[]), value])
    found = max(longest, key=len)
    return found if 1 < len(found) <= MOST_NESTED else []


def _list_inner_links(item: Item, is_root: bool) -> list[Link]:
    """Return the links to the children of an item, but for those of stubs."""
    children = item.children
    return [
        link
        for link in list_links(item, is_root=is_root)
        if link.target != BORDER
        and link.kind not in ("control", "former")
        and (link.source == BORDER or children[link.source].kind != "stub")
    ]


def _count_beside(spans: dict[Value, tuple[int, int]]) -> dict[Value, int]:
    """Return for each value how many others of these run beside it for more than ``FAR`` boxes."""
    count = dict.fromkeys(spans, 0)
    ordered = sorted(spans, key=lambda value: spans[value])
    active: deque[Value] = deque()
    for value in ordered:
        low, high = spans[value]
        still = [other for other in active if spans[other][1] - low > FAR // 2]
        active = deque(still)
        for other in still:
            if min(high, spans[other][1]) - low > FAR // 2:
                count[other] += 1
                count[value] += 1
        active.append(value)
        if len(active) > MOST_ACTIVE:
            active.popleft()
    return count


def _rank(count: int, links: Sequence[Link]) -> list[int]:
    """Return for each child how many others lie before it on the longest way.

    What takes fewer values than it gives is moved down to its consumers, as the layout does.
    Circles are cut where they begin.
    """
    following: list[list[int]] = [[] for _ in range(count)]
    before: list[set[int]] = [set() for _ in range(count)]
    enters = [False] * count
    for link in links:
        if link.source == BORDER:
            enters[link.target] = True
        elif link.source != link.target and link.source not in before[link.target]:
            following[link.source].append(link.target)
            before[link.target].add(link.source)
    ranks = [0] * count
    missing = [len(sources) for sources in before]
    order: list[int] = []
    ready = deque(index for index in range(count) if not missing[index])
    unseen = 0
    done = [False] * count
    while len(order) < count:
        if not ready:  # a circle: begin with its first member
            while done[unseen]:
                unseen += 1
            ready.append(unseen)
        index = ready.popleft()
        if done[index]:
            continue
        done[index] = True
        order.append(index)
        for target in following[index]:
            if not done[target]:
                ranks[target] = max(ranks[target], ranks[index] + 1)
                missing[target] -= 1
                if not missing[target]:
                    ready.append(target)
    for index in reversed(order):
        below = [ranks[target] for target in following[index] if ranks[target] > ranks[index]]
        if below and len(following[index]) > len(before[index]) + enters[index]:
            ranks[index] = max(ranks[index], min(below) - 1)
    return ranks
