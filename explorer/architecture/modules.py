"""The blocks of a graph along the modules that its picture draws."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from netloupe.explorer.grouping import find_tree
from netloupe.explorer.grouping.group import Group
from netloupe.explorer.model import Model

from .module_names import read_mask
from .outline import Outline
from .pieces import Piece

#: groups that are none of an author's modules, nor repetitions of them
_NO_MODULES = frozenset({"operation", "part", "postprocessing", "preparation", "shape"})
#: so many names may take turns
_PERIODS = range(2, 5)
#: how steps of a loop are called whose author gave them no name
_STEP = "step"
_MOST_LOOKED = 16
_NUMBER = re.compile("[0-9]+")


@dataclass(eq=False)
class Module:
    """A group of the picture, or a block that is in none of its own.

    Parameters
    ----------
    group
        None for a block by itself, and for the whole graph.
    label
        The name that the picture shows, without that of the module around it.
    pieces
        Its blocks, in order.
    inner
        The modules in it; nothing where it is one block.
    """

    group: Group | None
    label: str = ""
    pieces: list[Piece] = field(default_factory=list)
    inner: list[Module] = field(default_factory=list)

    @property
    def mask(self) -> str:
        """Its name with a sign for each number; "" for a block by itself."""
        return "" if self.group is None else read_mask(self.label)

    @property
    def kind(self) -> str:
        """Of its group; "" for a block by itself."""
        return "" if self.group is None else self.group.kind

    @property
    def is_repeat(self) -> bool:
        """Whether its modules are repetitions of one."""
        return self.kind == "repeat"

    @property
    def type_name(self) -> str:
        """The author's class; "" where that is not known."""
        return "" if self.group is None else self.group.type_name

    @property
    def times(self) -> int:
        """How many repetitions there are of a repeat of which one stands for all; 1 for others."""
        if self.group is None or not self.is_repeat or self.pieces[0].fold[1] == 1:
            return 1
        return len(self.group.children)


def build_modules(model: Model, outline: Outline, pieces: Sequence[Piece]) -> Module:
    """Return a graph as modules that hold modules, down to its blocks."""
    tree = find_tree(model, outline.graph)
    nodes = outline.operations.nodes

    def list_groups(number: int) -> list[Group]:
        node = nodes[number]
        group = tree.group_of(node) if tree.position_of(node) >= 0 else None
        found: list[Group] = []
        while group is not None and group.parent is not None:
            if _is_module(group):
                found.append(group)
            group = group.parent
        return found[::-1]

    root = Module(None)
    way: list[Module] = [root]
    for piece in pieces:
        first, last = (list_groups(part.end) for part in (piece.parts[0], piece.part))
        groups = [one for one, other in zip(first, last, strict=False) if one is other]
        depth = 0
        while depth < min(len(groups), len(way) - 1) and way[depth + 1].group is groups[depth]:
            depth += 1
        del way[depth + 1 :]
        for group in groups[depth:]:
            known = next((one for one in way[-1].inner if one.group is group), None)
            if known is not None:  # what is elsewhere stands between its blocks
                way.append(known)
                continue
            outer = next((one.group.label for one in way[::-1] if one.group is not None), "")
            module = Module(group, group.label.removeprefix(f"{outer}."))
            way[-1].inner.append(module)
            way.append(module)
        way[-1].inner.append(Module(None, "", [piece]))
        for module in way:
            module.pieces.append(piece)
    _unfold(root)
    while len(root.inner) == 1 and root.inner[0].inner and not root.inner[0].is_repeat:
        root = root.inner[0]
    return root


def _unfold(module: Module) -> None:
    """Put the modules of an author in place of repetitions that hold several of one list.

    The picture folds four layers of which the last one differs, or two layers and what stands
    before every second one: these are repetitions, and no blocks of the author's.
    """
    inner: list[Module] = []
    for one in module.inner if not module.is_repeat else ():
        held = one.inner if one.is_repeat else [one]
        blocks = [own for block in held for own in block.inner]
        if one.pieces[0].fold[1] == 1 and all(map(_holds_several, held)) and run_on(blocks):
            inner += blocks
        else:
            inner.append(one)
    module.inner = inner or module.inner
    for one in module.inner:
        _unfold(one)


def _holds_several(module: Module) -> bool:
    """Return whether a repetition holds modules of an author alone, several of one list."""
    masks = [one.mask for one in module.inner if one.kind == "scope"]
    return (
        module.kind == "block"
        and len(masks) == len(module.inner) > len({*masks})
        and all("#" in mask for mask in masks)
    )


def _is_module(group: Group) -> bool:
    """Return whether a group has an author's name, or is a repetition of what has one."""
    if group.kind in _NO_MODULES:
        return False
    if group.label.split(" ")[0] == _STEP:  # without a name, but of an author's modules
        return any(inner.kind == "scope" for inner in group.inner_groups()[:_MOST_LOOKED])
    return (
        group.kind == "scope" or not group.type_name or not group.label.startswith(group.type_name)
    )


def run_on(modules: Sequence[Module]) -> bool:
    """Return whether no two modules of a list have one last number, as parts of layers do.

    ``layers.0.0``, ``layers.0.1``, ``layers.1.0``, ``layers.1.1`` are two parts of two layers.
    """
    names = [(one.mask, _NUMBER.findall(one.label)[-1:]) for one in modules]
    return len({(mask, *last) for mask, last in names}) == len(names)


def join_last(modules: Sequence[Module]) -> list[Module]:
    """Return modules with the last repetition in its repeat where it lacks its end.

    The picture folds those that are equal; of the last one nothing leads on, so that it stands
    behind them part by part.
    """
    kept: list[Module] = []
    place = 0
    while place < len(modules):
        module = modules[place]
        place += 1
        ways = {tuple(part.mask for part in one.inner) for one in module.inner}
        way = ways.pop() if module.is_repeat and len(ways) == 1 else ()
        behind = modules[place : place + len(way)]
        count = 0
        while count < len(behind) and behind[count].mask == way[count]:
            count += 1
        names = {one.label for inner in module.inner for one in inner.inner}
        is_next = 0 < count < len(way) and "#" in way[0] and behind[0].label not in names
        if not is_next or module.pieces[0].fold[1] > 1:
            kept.append(module)
            continue
        parts = [*behind[:count]]
        pieces = [piece for part in parts for piece in part.pieces]
        last = Module(parts[0].group, parts[0].label, pieces, parts)
        inner = [*module.inner, last]
        kept.append(Module(module.group, module.label, module.pieces + pieces, inner))
        place += count
    return kept


def join_first(modules: Sequence[Module]) -> list[Module]:
    """Return modules with the first repetition in its repeat where it stands before the others.

    An exporter numbers modules from the second of a name on: ``coupling``, ``coupling_1``. The
    first one is equal part by part, so that the picture shows it apart for its name alone.
    """
    kept: list[Module] = []
    for module in modules:
        first = module.inner[0] if module.is_repeat and module.inner else None
        parts = first.inner if first is not None else []
        before = kept[-len(parts) :] if parts else []
        is_alike = len(before) == len(parts) > 1 and all(
            f"{one.mask}_#" == part.mask
            and [piece.token for piece in one.pieces] == [piece.token for piece in part.pieces]
            for one, part in zip(before, parts, strict=True)
        )
        if first is None or not is_alike or any(piece.fold[1] > 1 for piece in module.pieces):
            kept.append(module)
            continue
        pieces = [piece for part in before for piece in part.pieces]
        start = Module(before[0].group, _NUMBER.sub("0", first.label), pieces, before)
        del kept[-len(before) :]
        inner = [start, *module.inner]
        kept.append(Module(module.group, module.label, pieces + module.pieces, inner))
    return kept


def list_rows(modules: Sequence[Module], *, in_turns: bool = True) -> Iterator[list[Module]]:
    """Yield modules in order, with those together whose names differ in a number only.

    Where several such names take turns, all of each are together unless ``in_turns`` is false.
    """
    masks = [module.mask for module in modules]
    place = 0
    while place < len(modules):
        end = place + 1
        while end < len(modules) and "#" in masks[place] and masks[end] == masks[place]:
            end += 1
        length = _find_turns(masks, place) if in_turns else 0
        if length > end - place:
            taken = modules[place : place + length]
            for mask in dict.fromkeys(masks[place : place + length]):
                yield [module for module in taken if module.mask == mask]
            place += length
            continue
        yield [*modules[place:end]]
        place = end


def _find_turns(masks: Sequence[str], place: int) -> int:
    """Return over how many modules from a place on names take turns; the last may be fewer."""
    best = 0
    for period in _PERIODS:
        names = masks[place : place + period]
        if not all("#" in name for name in names) or len({*names}) < 2:
            continue
        end = place + period
        while end < len(masks) and masks[end] == masks[end - period]:
            end += 1
        if end - place >= 2 * period:
            best = max(best, end - place)
    return best


def open_row(row: Sequence[Module]) -> list[Module]:
    """Return the modules of a row; what is repeated among them as each of its repetitions."""
    opened: list[Module] = []
    for module in row:
        inner = module.inner
        is_alike = all("#" in one.mask and one.mask == module.mask for one in inner)
        if module.is_repeat and len(inner) > 1 and is_alike:
            opened += inner
        else:
            opened.append(module)
    return opened


def open_lists(row: Sequence[Module]) -> Iterator[Module]:
    """Yield the modules of a row; of one whose own modules have numbers for names those."""
    for module in row:
        inner = [one for one in module.inner if one.group is not None]
        is_list = module.is_repeat or (bool(inner) and all(one.mask == "#" for one in inner))
        if is_list and len(module.inner) > 1:
            yield from open_lists(module.inner)
        else:
            yield module


def walk_modules(module: Module) -> Iterator[Module]:
    """Yield a module and all in it that have a group, in order."""
    pending = [module]
    while pending:
        one = pending.pop()
        if one.group is not None:
            yield one
            pending += one.inner[::-1]
