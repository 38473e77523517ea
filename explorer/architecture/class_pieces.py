"""Modules of plain layers that do more than layers in a row, told by the class of their author.

Of attention of a kind that nobody has seen it is known that it has two linear layers, and what its
author calls it: ``HAttention1D`` says more. The name is written as it is in the file, so that
nobody takes it for what was found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from netloupe.explorer.grouping import find_tree
from netloupe.explorer.grouping.container_names import CONTAINERS, ORDER
from netloupe.explorer.grouping.group import Group
from netloupe.explorer.model import Model

from .module_names import tell_class
from .outline import Outline
from .pieces import CLASS, SMALL_STEPS, Piece

#: what is told by its number alone where no class says more
_PLAIN = frozenset({"conv", "linear"})
#: what holds other blocks, and is none of them
_WHOLES = frozenset(
    {"backbone", "body", "decoder", "encoder", "features", "head", "layers", "level", "model"}
    | {"net", "network", "sequential", "stage", "trunk"}
)
#: words of classes that say no more of a module than what is counted in it, or what an outline
#: would have found if it were so
_SILENT = (
    CONTAINERS
    | ORDER
    | _WHOLES
    | {"basic", "bottleneck", "conv", "convolution", "double", "down", "feed", "ffn", "fn"}
    | {"forward", "gelu", "glu", "linear", "list", "mlp", "norm", "post", "pre", "proj"}
    | {"projection", "relu", "res", "residual", "triple", "up", "wrapper"}
)
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_MOST_LETTERS = 32
_LEAST_LETTERS = 3
#: so many modules of one class are one after another, or in one another
_LEAST = 2
#: of so many of one class in a module each is a block, and the module a list of them
_LEAST_OF_LIST = 3


def join_classes(model: Model, outline: Outline, pieces: Sequence[Piece]) -> list[Piece]:
    """Return blocks, with layers of a module as one block where its class says what they are.

    Only layers that nothing else is known of, of modules that are no layers in a row, and where
    there are several of a class.
    """
    held = _list_held(model, outline, pieces)
    able = {group for group, inner in held.items() if _is_unknown(group, inner)}
    if not able:
        return [*pieces]
    chosen = {group for group in able if not any(one in able for one in _walk_out(group))}
    chosen = {one for group in chosen for one in _choose(group, able, held)}
    counts = Counter(
        name for group in chosen for name in [group.type_name] * held[group][0].fold[1]
    )
    owners = {
        id(piece): group
        for group in chosen
        if counts[group.type_name] >= _LEAST
        for piece in held[group]
    }
    joined: list[Piece] = []
    begun: set[Group] = set()
    for piece in pieces:
        group = owners.get(id(piece))
        if group is None:
            joined.append(piece)
        elif group not in begun:
            begun.add(group)
            inner = held[group]
            parts = sorted(
                (part for one in inner for part in one.parts), key=lambda part: part.place
            )
            name = group.type_name.lstrip("_")
            joined.append(Piece(CLASS, name, parts, uses=piece.uses, fold=piece.fold))
    return sorted(joined, key=lambda piece: piece.parts[0].place) if begun else joined


def _list_held(model: Model, outline: Outline, pieces: Sequence[Piece]) -> dict[Group, list[Piece]]:
    """Return for each module of an author the blocks in it, or that begin or end in it."""
    tree = find_tree(model, outline.graph)
    nodes = outline.operations.nodes
    held: dict[Group, list[Piece]] = {}
    for piece in pieces:
        groups: dict[Group, None] = {}
        for part in piece.parts:
            node = nodes[part.end]
            if tree.position_of(node) >= 0:
                own = tree.group_of(node)
                groups |= dict.fromkeys([own, *_walk_out(own)] if own is not None else [])
        for group in groups:
            held.setdefault(group, []).append(piece)
    return held


def _walk_out(group: Group) -> Iterator[Group]:
    """Yield the groups around one."""
    while group.parent is not None:
        group = group.parent
        yield group


def _is_unknown(group: Group, held: Sequence[Piece]) -> bool:
    """Return whether a module is of plain layers, and neither these in a row nor a known block."""
    layers = _list_layers(held)
    is_plain = len(layers) > 1 and all(piece.kind in _PLAIN for piece in layers)
    is_alike = len({(piece.uses, piece.fold) for piece in held}) == 1
    return (
        is_plain
        and is_alike
        and group.kind == "scope"
        and group.recognised is None
        and _says(group.type_name)
    )


def _list_layers(held: Sequence[Piece]) -> list[Piece]:
    return [piece for piece in held if piece.name not in SMALL_STEPS]


def _says(type_name: str) -> bool:
    """Return whether a class says what its modules do."""
    words = [word.lower() for word in _WORD.findall(type_name)]
    if tell_class(type_name):  # in words, where all blocks of a row are of it
        return False
    letters = sum(map(len, words))
    if letters < _LEAST_LETTERS or len(type_name) > _MOST_LETTERS or words[-1] in _WHOLES:
        return False
    return any(word not in _SILENT and len(word) >= _LEAST_LETTERS for word in words)


def _choose(group: Group, able: set[Group], held: dict[Group, list[Piece]]) -> Iterator[Group]:
    """Yield a module, or the ones in it where it is nothing but what stands around them."""
    inner = [*_list_nearest(group, able)]
    is_around = len(inner) == 1 and _list_layers(held[inner[0]]) == _list_layers(held[group])
    classes = Counter(one.type_name for one in inner)
    is_list = max(classes.values(), default=0) >= _LEAST_OF_LIST and len(classes) == 1
    if not is_around and not is_list:
        yield group
        return
    for one in inner:
        yield from _choose(one, able, held)


def _list_nearest(group: Group, able: set[Group]) -> Iterator[Group]:
    """Yield the nearest such modules within one."""
    for one in group.inner_groups():
        if one in able:
            yield one
        else:
            yield from _list_nearest(one, able)
