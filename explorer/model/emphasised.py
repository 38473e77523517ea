"""Nodes of a model that a first view is to show, as what differs from another model."""

from __future__ import annotations

from typing import NamedTuple

from .kept import get_kept
from .model import Model
from .node import Node


class EmphasisedNodes(NamedTuple):
    """The nodes that matter more than others.

    Parameters
    ----------
    nodes
        They are nodes of any graphs of the model.
    """

    nodes: frozenset[Node] = frozenset()


def find_emphasised(model: Model) -> frozenset[Node]:
    """Return the nodes that matter more than others; of most models there are none."""
    found = get_kept(model, EmphasisedNodes)
    return frozenset() if found is None else found.nodes
