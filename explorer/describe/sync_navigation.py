"""The pairs of two models as Model Explorer takes them to keep two panes at the same place."""

from __future__ import annotations

from typing import Any

from netloupe.explorer.compare import Diff
from netloupe.explorer.model import Node


def encode_sync_navigation(found: Diff) -> dict[str, Any]:
    """Return pairs of nodes as Model Explorer's data for synchronised navigation.

    Notes
    -----
    Its type is ``SyncNavigationData`` of Model Explorer's
    ``src/ui/src/components/visualizer/common/sync_navigation.ts``: older versions read ``mapping``,
    one node each, newer ones ``mappingEntries``, several of each side. A node is known there by its
    name, and without one as ``<node_3>`` by its place in its graph, as the adapter for ONNX has it.
    Nodes without a partner are not to be looked for by name.
    """
    pairs = found.matching.pairs
    return {
        "type": "sync_navigation",
        "mapping": {
            _name_node(node): _name_node(pair.right[0]) for pair in pairs for node in pair.left
        },
        "mappingEntries": [
            {
                "leftNodeIds": [*map(_name_node, pair.left)],
                "rightNodeIds": [*map(_name_node, pair.right)],
            }
            for pair in pairs
        ],
        "disableMappingFallback": True,
        "showDiffHighlights": True,
    }


def _name_node(node: Node) -> str:
    return node.name or f"<node_{node.index}>"
