"""What an author calls modules, and what several of them in a row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from .counted_words import write_plural
from .module_names import tell_class, tell_name
from .modules import Module
from .pieces import Piece

#: a name of letters that one can read
_LETTERS = re.compile(r"[A-Za-z]{3,}(?:_[A-Za-z]+){0,2}")
_ATTENDING = frozenset({"attention", "transformer"})
_ALONG_EDGES = frozenset({"graph convolution", "graph network", "message passing"})
#: nouns of what has a number of its own and holds blocks with theirs: ``encoder_level2.0``
_NUMBERED = (" level", " stage")
_OF_LEVEL = re.compile(r"(?:level|stage)s?[._]?\d+\.\d+")
#: what rows of blocks are parts of
WHOLES = frozenset({"backbone", "decoder", "encoder", "trunk"})
#: a name says nothing of a module that holds less besides its largest part
_LEAST_SHARE = 0.5
#: nor of one in which other things have names that hold as much
_MOST_OTHERS = 0.1
#: a loop is named after what is in it where that is so much of it
_LEAST_OF_LOOP = 0.6


def name_module(module: Module, *, is_row: bool = False) -> str:
    """Return what an author calls a module; what has no attention is no transformer.

    Nor is an embedding what mixes nodes along edges.

    What holds several modules, as ``intra, inter``, has the name of none.
    """
    if ", " in module.label:
        return ""
    name = tell_name(module.label, is_row=is_row)
    is_attending = any(piece.kind in _ATTENDING for piece in module.pieces)
    if name == "embedding" and any(piece.kind in _ALONG_EDGES for piece in module.pieces):
        return ""  # a network that embeds nodes
    return "" if name.endswith("transformer") and not is_attending else name


def name_author(root: Module, pieces: Sequence[Piece]) -> str:
    """Return what an author calls the one module that holds some blocks and no others, or "".

    Beside others any name tells which it is, as ``slow pathway``, if it is one of letters.
    """
    own = {id(piece) for piece in pieces}
    modules = [root]
    while modules:
        held = [one for one in modules if own <= {id(piece) for piece in one.pieces}]
        for module in held:
            label = module.label.rpartition(".")[2]
            if len(module.pieces) == len(own) and _LETTERS.fullmatch(label):
                return name_module(module) or label.replace("_", " ")
        modules = [inner for one in held for inner in one.inner if inner.group is not None]
    return ""


def name_row(row: Sequence[Module]) -> str:
    """Return what each of several modules is called; "" where they differ or say nothing."""
    names = {_name_block(module) for module in row}
    name = names.pop() if len(names) == 1 else ""
    if name.endswith(_NUMBERED) and all(_OF_LEVEL.search(one.label) for one in row):
        name = f"{name.rpartition(' ')[0]} block"
    return name


def _name_block(module: Module) -> str:
    """Return what one of modules in a row is called; "" where that says nothing."""
    module = module.inner[0] if module.times > 1 else module
    group = module.group
    if group is None:
        return ""
    found = group.recognised
    if found is not None and "·" not in found.name and found.family == "group":
        return found.name[:1].lower() + found.name[1:]
    # a repetition that holds several modules has the names of all of them
    is_of_several = group.kind == "block" and ", " in group.label
    said = "" if is_of_several else name_module(module, is_row=True)
    said = said or say_class(module)
    if said:
        return said
    inner = [
        (one.group.node_count, word)
        for one in module.inner
        if one.group is not None and (word := name_module(one))
    ]
    weight, word = max(inner, default=(0, ""))
    is_most = weight > _LEAST_SHARE * group.node_count
    # a layer of two parts has the name of neither, nor that of one beside which attention stands
    if any(
        piece.kind in _ATTENDING for one in module.inner if not one.mask for piece in one.pieces
    ):
        return ""
    is_only = sum(held for held, _ in inner) - weight < _MOST_OTHERS * group.node_count
    if word.endswith(" block"):  # of what is in a block that says nothing of it
        word = ""
    return f"{word} block".strip() if is_most and is_only else ""


def say_class(module: Module) -> str:
    """Return what the class of a module is called; its one block where that says more."""
    said = tell_class(module.type_name)
    only = module.pieces[0] if len(module.pieces) == 1 else None
    if only is None or only.kind != "residual" or said.removesuffix(" block") != "residual":
        return said
    return only.name[:1].lower() + only.name[1:]


def name_loop(module: Module) -> str:
    """Return what a step of a loop is called; of one named after what is in it if that is most."""
    group = module.group
    if group is None:
        return ""
    name = name_module(module) or tell_class(group.type_name)
    if group.kind == "scope":
        return name
    inner = [one.group.node_count for one in module.inner if one.group is not None]
    return name if max(inner, default=0) > _LEAST_OF_LOOP * group.node_count else ""


def count_name(row: Sequence[Module], name: str) -> str:
    """Return how many modules of a name there are: ``4 heads``; one after another of a whole.

    ``encoder of 4 blocks``.
    """
    count = sum(module.times for module in row)
    if count == 1:
        return name
    if name in WHOLES and all(_leads(one, two) for one, two in pairwise(row)):
        return f"{name} of {count:,} blocks"
    is_same = name.endswith(("s", "ing", "MLP")) and not name.endswith(("embedding", "ss"))
    plural = name if is_same else write_plural(name)
    return f"{count:,} {plural}"


def _leads(one: Module, two: Module) -> bool:
    return two.pieces[-1].part.follows(one.pieces[-1].part)


def says_no_more(text: str, name: str) -> bool:
    """Return whether a name says no more than what is told of a module."""
    return all(word.removesuffix("s") in text.lower() for word in name.lower().split(" "))
