"""What of nodes that give constants is told of these as weights, and so not of the nodes."""

from __future__ import annotations

from netloupe.explorer.model import Node, Tensor

from .changes import Change

_OF_ATTRIBUTE = "attribute "
#: what is told of a weight of the tensor in an attribute, beside its type, dims and elements
_OF_TENSOR = frozenset(
    {"name", "doc_string", "stored in", "data_location", "external_data", "order of external_data"}
)
#: arguments that say what a fill of Caffe2 holds
_OF_FILL = frozenset({"shape", "values"})


def is_told_of_weight(change: Change, left: Node, right: Node) -> bool:
    """Return whether what differs in two constant nodes is told where their tensors are compared.

    Parameters
    ----------
    change
        What differs in the nodes.
    left, right
        The nodes, whose tensors are compared as weights.
    """
    name = change.what.removeprefix(_OF_ATTRIBUTE)
    if name == change.what:
        return False
    one, other = left.attributes.get(name), right.attributes.get(name)
    if one is not None and other is not None:
        if isinstance(one.value, Tensor) and isinstance(other.value, Tensor):
            return True
        return not left.graph.dialect.has_opsets and name in _OF_FILL
    name, _, field = name.partition(".t.")
    return field.partition(".")[0] in _OF_TENSOR and name in left.attributes
