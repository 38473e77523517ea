"""Boxes that are left out of a picture: what they take leads to where what they give goes.

So nothing that remains loses its connection to what stands before and behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from netloupe.explorer.errors import ViewError

from .item import BORDER, Item, Link

if TYPE_CHECKING:
    from .view import View

#: a hidden box may stand between so many pairs of producers and consumers
MOST_PAIRS = 10_000


def hide_items(view: View, hidden: Iterable[Item]) -> None:
    """Leave items of a view out of what is drawn; what is opened later is not touched.

    An open item of which nothing remains is left out itself.

    Raises
    ------
    ViewError
        Where what an item takes and gives would need too many edges.
    """
    by_parent: dict[int, tuple[Item, set[int]]] = {}
    pending = [item for item in hidden if item is not view.root]
    for item in pending:  # grows
        parent = item.parent
        if parent is None:
            continue
        _, keys = by_parent.setdefault(id(parent), (parent, set()))
        keys.add(id(item))
        remaining = (child for child in parent.children if id(child) not in keys)
        if parent is not view.root and all(child.kind == "stub" for child in remaining):
            pending.append(parent)
    for parent, keys in by_parent.values():
        _hide_children(view, parent, keys)


def _hide_children(view: View, parent: Item, hidden: set[int]) -> None:
    """Leave some children of an open item out."""
    children = parent.children
    links: Sequence[Link] = view.links(parent)
    numbers = [number for number, child in enumerate(children) if id(child) in hidden]
    links = lead_past(links, numbers, lambda number: children[number].path)
    ends = {end for link in links for end in (link.source, link.target)}
    kept = [
        number
        for number, child in enumerate(children)
        if id(child) not in hidden and (child.kind != "stub" or number in ends)
    ]
    new = {old: number for number, old in enumerate(kept)} | {BORDER: BORDER}
    for number in set(range(len(children))).difference(kept):
        view.items.pop(children[number].key, None)
    parent.stubs = {key: new[stub] for key, stub in parent.stubs.items() if stub in new}
    parent.children = [children[number] for number in kept]
    view.rewired[id(parent)] = [
        replace(link, source=new[link.source], target=new[link.target]) for link in links
    ]


def lead_past(
    links: Sequence[Link], hidden: Collection[int], name: Callable[[int], str] = str
) -> Sequence[Link]:
    """Return links that go from the producers of hidden children to their consumers.

    Parameters
    ----------
    links
        Inside one open item.
    hidden
        The numbers of the children.
    name
        Gives what a child is called where that has to be said.

    Raises
    ------
    ViewError
        Where one of them stands between too many.
    """
    found = {_key(link): link for link in links}
    for number in hidden:
        entering = [link for link in found.values() if link.target == number]
        leaving = [link for link in found.values() if link.source == number]
        if len(entering) * len(leaving) > MOST_PAIRS:
            raise ViewError(
                f"{name(number)!r} stands between {len(entering):,} and {len(leaving):,} others: "
                f"it cannot be left out. At most {MOST_PAIRS:,} edges may take its place."
            )
        found = {key: link for key, link in found.items() if number not in (key[0], key[1])}
        for before in entering:
            for after in leaving:
                link = replace(
                    before,
                    target=after.target,
                    target_value=after.target_value,
                    kind=before.kind if after.kind == "data" else after.kind,
                )
                if link.source != link.target and link.source != number != link.target:
                    found.setdefault(_key(link), link)
    return list(found.values())


def _key(link: Link) -> tuple[int, int, object, object]:
    """Return what tells edges apart: a value leads from one box to another once."""
    value = link.target_value if link.target == BORDER else None
    return link.source, link.target, link.source_value, value
