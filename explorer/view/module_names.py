"""What a value is called after the module that gives it, or else after what makes it.

The module is the largest that no user of the value is in: ``encoder`` for what leaves the last of
its layers. Names that only tell where something stands in a list, or of which kind it is, say
nothing of a value: ``layers.0``, ``conv1``, ``output``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from netloupe.explorer.dataflow import find_source, is_input_independent, trace_back_where, trace_on
from netloupe.explorer.grouping import GroupTree
from netloupe.explorer.model import Node, Value, find_outer_node, is_constant
from netloupe.explorer.operators import HANDING_TRAITS, LAYOUT_TRAITS
from netloupe.explorer.roles import find_weight

#: so many uses of a value are looked at, and so many nodes that it is computed by
_MOST_USES, _MOST_MAKING = 12, 48
#: no longer name stands beside a line
_MOST_LETTERS = 28
#: so many modules around a value may be asked for their names
_MOST_MODULES = 8
EMBEDDING, NOISE, MASK = "embedding", "noise", "mask"

#: what stands between the names of a chain, of a range, and of a fused operator
_CHAIN = " / "
_RANGE = r"[…–;:]"
_NUMBER_BEHIND = re.compile(r"[_.]?\d+$")
#: what converters begin names with that they make up
_OF_TOOLS = ("tf_op_layer", "StatefulPartitionedCall", "PartitionedCall")
#: modules that are called after what they compute or where they stand
_KINDS = (
    "act activation add backbone biasadd block blocks bn body cat concat conv conv1d "
    "conv2d conv3d convs dense downsample drop dropout elu fc features forward gelu graph "
    "identity layer layernorm layers lin linear ln main matmul mlp model module net "
    "network norm out output pool proj projection relu res residual self seq sequential "
    "shortcut sigmoid silu softmax stage stages sub sum tanh transpose view wrapper"
)
_SAYING_NOTHING = frozenset(_KINDS.split())
#: what people call a result
_RESULTS = frozenset({"out", "output"})


def name_by_module(value: Value, tree: GroupTree) -> str:
    """Return what a module is called that gives a value, seen through activations; "" for none.

    Parameters
    ----------
    value
        Any value.
    tree
        The groups of its graph.
    """
    return next(iter(list_modules(value, tree, most=1)), "")


def list_modules(value: Value, tree: GroupTree, most: int = _MOST_MODULES) -> list[str]:
    """Return what the modules are called that give a value, the largest first.

    Parameters
    ----------
    value
        Any value.
    tree
        The groups of its graph.
    most
        At most so many around each other; those whose names say nothing count.
    """
    for one in trace_back_where(value, _keeps_meaning):
        node = one.producer
        if node is None or node.graph is not tree.graph:
            return []
        if _keeps_meaning(node):
            continue  # exporters put what several modules take into the first of them
        labels = _list_giving(node, {*_list_users(value, tree)}, tree)[:most]
        return [word for label in labels if (word := find_word(label))]
    return []


def name_by_maker(value: Value) -> str:
    """Return what a value is by what makes it; "" where that is not sure.

    Rows of a table are an embedding, what is drawn at random is noise, truth values are a mask;
    and what is computed of one input without weights is called after that input: ``from path``.
    """
    origin = find_source(value, *HANDING_TRAITS)
    node = origin.producer if origin is not None else None
    if origin is None or node is None or is_input_independent(origin):
        return ""
    if node.operator.has("looks_up") and find_weight(node) is not None:
        return EMBEDDING
    if node.operator.has("random"):
        return NOISE
    if node.operator.has("compares", "logical"):
        return MASK
    found = _find_only_input(origin)
    return f"from {found.name}" if found is not None and len(found.name) <= _MOST_LETTERS else ""


def find_word(label: str) -> str:
    """Return the last name of a chain of names that says something: ``encoder``.

    >>> find_word("encoder / layers.0 … layers.3"), find_word("clip.text_projection")
    ('encoder', 'text_projection')
    """
    for part in reversed(label.split(_CHAIN)):
        name = part.rpartition(".")[2]
        plain = _NUMBER_BEHIND.sub("", name).lower().strip("_")
        is_word = len(plain) > 1 and not plain.isdecimal() and len(name) <= _MOST_LETTERS
        is_word = is_word and not name.startswith(_OF_TOOLS)
        if is_word and not re.search(_RANGE, part) and plain not in _SAYING_NOTHING:
            return name
    return ""


def _write_list(label: str) -> str:
    """Return ``stem / mapping`` for ``stem / mapping.0 … mapping.7``; "" for a chain of kinds.

    Of calls of one module, ``cell … cell_3``, it is the name of that.
    """
    around, mark, own = label.rpartition(_CHAIN)
    first, between, last = own.partition(" … ")
    name = _NUMBER_BEHIND.sub("", first)
    is_list = bool(between) and last.startswith(name)
    return around + mark + name if is_list else around


def is_numbered_operator(name: str) -> bool:
    """Return whether a name is that of a kind of layer and a number, as ``activation_2``."""
    plain = _NUMBER_BEHIND.sub("", name).lower()
    return plain != name.lower() and plain in _SAYING_NOTHING - _RESULTS


def _keeps_meaning(node: Node) -> bool:
    """Return whether what a node gives is called as what it takes: an activation of it, or a cast.

    Of a gate that is so only where it is of the same value, as of a SiLU that is written out.
    """
    operator = node.operator
    if operator.has("multiplies_elements") and len(node.inputs) == 2:
        first, second = (_find_squashed(value) for value in node.inputs)
        return first is not None and first is second and node.input(0) is not node.input(1)
    if not operator.has(*HANDING_TRAITS, "activates", "clips", "squashes"):
        return False
    return all(value is None or is_constant(value) for value in node.inputs[1:])


def _find_squashed(value: Value | None) -> Value | None:
    """Return of what a value is the squashed one; the value where it is of nothing."""
    source = find_source(value, *LAYOUT_TRAITS)
    node = source.producer if source is not None else None
    is_squashed = node is not None and node.operator.has("squashes")
    return find_source(node.input(0), *LAYOUT_TRAITS) if node and is_squashed else source


def _list_users(value: Value, tree: GroupTree) -> Iterator[Node]:
    """Yield what takes a value behind nodes that hand it on, in the terms of a tree's graph."""
    for number, (user, _) in enumerate(trace_on(value, *LAYOUT_TRAITS)):
        node = find_outer_node(user, tree.graph)
        if number == _MOST_USES:
            return
        if node is not None:
            yield node


def _list_giving(node: Node, users: set[Node], tree: GroupTree) -> list[str]:
    """Return the labels of the modules around a node that hold no user of what it gives."""
    found, group = [tree.node_labels.get(node.index, "")], tree.group_of(node)
    while group is not None and group.parent is not None:
        if any(tree.holds(group, user) for user in users):
            break
        if group.kind == "repeat":
            found.append(_write_list(group.label))
        elif group.kind == "scope" and not group.names_operator:
            found.append(group.label)
        group = group.parent
    return [*filter(None, reversed(found))]


def _find_only_input(value: Value) -> Value | None:
    """Return the one input of the graph of which a value is computed without weights, if any."""
    pending, seen = [value], {value}
    found: set[Value] = set()
    for one in pending:  # grows
        node = one.producer
        if node is None:
            found.add(one)
            continue
        if len(pending) > _MOST_MAKING or find_weight(node) is not None or node.subgraphs:
            return None
        if node.operator.has("reads_shape", "random"):
            return None
        fresh = [v for v in node.inputs if v is not None and not is_input_independent(v)]
        pending += [v for v in dict.fromkeys(fresh) if v not in seen]
        seen.update(fresh)
    only = found.pop() if len(found) == 1 else None
    return only if only is not None and only.is_input else None
