"""What is known of twins: which nodes may be paired, by their paths.

While a model is changed its nodes carry tags, among their ``metadata_props``: numbers of the
nodes that they come from. A copy of a node has its tag, a node that stands for two has both, a
new one has none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import onnx

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from tests.compare.twins.graphs import list_nodes

TAG = "netloupe.twin"
#: stands behind a tag of a node that is no partner and may be in the pair of one
BESIDE = "+"
#: what happens to names besides: nothing, all become others, or the numbers of layers move up
Naming: TypeAlias = Literal["kept", "changed", "shifted"]


@dataclass(frozen=True)
class Twin:
    """Two models and what is known of their nodes.

    Parameters
    ----------
    kind
        What was done to the left model to make the right one.
    naming
        What was done to names besides.
    truth
        Of paths of the left model those of the right one that may be paired with them; nothing,
        where none may. Of a node that is left out nothing is known.
    optional
        Paths of the left model that may be in such a pair and need not, since their nodes were
        taken into others.
    beside
        Of paths of the left model those of the right one that may be in a pair with them beside a
        partner.
    """

    kind: str
    naming: Naming
    left: onnx.ModelProto
    right: onnx.ModelProto
    truth: Mapping[str, frozenset[str]]
    optional: frozenset[str] = frozenset()
    beside: Mapping[str, frozenset[str]] = field(default_factory=dict)


def tag_nodes(model: onnx.ModelProto) -> None:
    """Give every node its own tag."""
    for index, node in enumerate(list_nodes(model)):
        node.metadata_props.add(key=TAG, value=str(index))


def read_tags(node: onnx.NodeProto) -> list[str]:
    """Return the tags of a node."""
    return [tag for entry in node.metadata_props if entry.key == TAG for tag in entry.value.split()]


def set_tags(node: onnx.NodeProto, tags: Iterable[str]) -> None:
    """Let a node have these tags; none make it a new one."""
    kept = [entry for entry in node.metadata_props if entry.key != TAG]
    del node.metadata_props[:]
    node.metadata_props.extend(kept)
    text = " ".join(tags)
    if text:
        node.metadata_props.add(key=TAG, value=text)


def finish_twin(
    kind: str,
    naming: Naming,
    left: onnx.ModelProto,
    right: onnx.ModelProto,
    *,
    is_sure: bool,
    optional: Collection[str] = (),
) -> Twin:
    """Return a twin of tagged models, and take the tags away.

    Parameters
    ----------
    is_sure
        A node whose tag is nowhere on the right is gone; else nothing is known of it.
    optional
        Tags of nodes that may have a partner and need none.
    """
    paths: dict[str, set[str]] = {}
    for path, tags in _list_tags(right):
        for tag in tags:
            paths.setdefault(tag, set()).add(path)
    truth = {
        path: frozenset(paths.get(tag, ()))
        for path, tags in _list_tags(left)
        for tag in tags
        if is_sure or tag in paths
    }
    beside = {
        path: frozenset(paths.get(tag + BESIDE, ()))
        for path, tags in _list_tags(left)
        for tag in tags
    }
    free = frozenset(path for path, tags in _list_tags(left) if not {*tags}.isdisjoint(optional))
    for model in (left, right):
        for node in list_nodes(model):
            set_tags(node, ())
    return Twin(kind, naming, left, right, truth, free, beside)


def read_proto(model: onnx.ModelProto) -> Model:
    """Return a model of the ``onnx`` package as netloupe reads it."""
    return load(model.SerializeToString())


def _list_tags(model: onnx.ModelProto) -> Iterable[tuple[str, list[str]]]:
    for graph in read_proto(model).graphs:
        for node in graph.nodes:
            yield node.path, node.metadata.get(TAG, "").split()
