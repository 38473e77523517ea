"""What elements of a merged model say: what those say that they were made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from netloupe.explorer.model import Attribute, Graph, Node, SparseTensor, Tensor, Value
from netloupe.explorer.model.node import NodeDetails
from netloupe.explorer.model.node_keys import (
    key_attributes,
    key_statement,
    key_whole_attributes,
    may_have_attributes,
    state_node,
    tell_oddities,
)
from netloupe.explorer.model.sparse_tensor import move_sparse_tensor
from netloupe.explorer.model.statement import Statement
from netloupe.explorer.model.types import ValueType
from netloupe.explorer.model.unknown import UnknownFields
from netloupe.explorer.model.value import list_types, share_notes


class MergedNodeLoader:
    """The :class:`NodeLoader` of nodes that were made of others.

    Parameters
    ----------
    origins
        By index of a node the one that it was made of.
    graphs
        By graph the one that stands for it.
    """

    def __init__(self, origins: Sequence[Node], graphs: Mapping[Graph, Graph]) -> None:
        self._origins = origins
        self._graphs = graphs

    def details(self, node: Node) -> NodeDetails:
        """Return what the other node says, with the graphs and paths of this one."""
        origin = self._origins[node.index]
        details = origin.details
        if not node.subgraphs and node.path == origin.path:
            return details
        constant = details.constant
        if constant is not None:
            constant = copy_tensor(constant, _move(constant.path, origin.path, node.path))
        attributes = copy_attributes(details.attributes, self._graphs, origin.path, node.path)
        return replace(details, attributes=attributes, constant=constant)

    def may_have_attributes(self, node: Node) -> bool:
        """Return whether the other node may have attributes."""
        return may_have_attributes(self._origins[node.index])

    def oddities(self, node: Node) -> tuple[str, ...] | None:
        """Say what is odd about the other node."""
        return tell_oddities(self._origins[node.index])

    def metadata(self, node: Node) -> dict[str, str]:
        """Return the metadata of the other node."""
        return self._origins[node.index].metadata

    def attribute_key(self, node: Node, *, is_whole: bool = False) -> bytes:
        """Return what is equal for nodes of equal attributes."""
        origin = self._origins[node.index]
        return key_whole_attributes(origin) if is_whole else key_attributes(origin)

    def statement_key(self, node: Node) -> bytes:
        """Return what is equal for nodes of which the file says the same but for names."""
        return key_statement(self._origins[node.index])

    def state(self, node: Node) -> Statement:
        """Return all that the file says of the other node."""
        origin = self._origins[node.index]
        return state_node(origin)

    def unknown_fields(self, node: Node) -> UnknownFields:
        """Return the fields of the other node that the schema does not know."""
        return self._origins[node.index].unknown_fields


class MergedValueLoader:
    """The :class:`ValueLoader` of values that were made of others.

    Parameters
    ----------
    origins
        By place of a value the one that it was made of.
    """

    def __init__(self, origins: Sequence[Value]) -> None:
        self._origins = origins

    def fill(self, value: Value, place: int) -> None:
        """Set what is said of the other value."""
        origin = self._origins[place]
        value.type = origin.type
        share_notes(value, origin)

    def list_types(self, places: Sequence[int]) -> list[ValueType | None]:
        """Return the types of the other values, those of many once."""
        return list_types([self._origins[place] for place in places])

    def types_at(self, places: Sequence[int]) -> list[ValueType | None]:
        """Return the type of each of the other values."""
        return [self._origins[place].type for place in places]


def copy_attributes(
    attributes: Mapping[str, Attribute], graphs: Mapping[Graph, Graph], before: str, after: str
) -> dict[str, Attribute]:
    """Return attributes with other graphs, and with the tensors at another path."""

    def copy(value: Any) -> Any:
        if isinstance(value, Graph):
            return graphs.get(value, value)
        if isinstance(value, Tensor | SparseTensor):
            return copy_tensor(value, _move(value.path, before, after))
        if isinstance(value, tuple) and any(map(_is_element, value[:1])):
            return tuple(map(copy, value))
        return value

    return {
        key: Attribute(
            one.name,
            one.kind,
            copy(one.value),
            reference=one.reference,
            doc=one.doc,
            warnings=one.warnings,
        )
        for key, one in attributes.items()
    }


def _is_element(value: object) -> bool:
    return isinstance(value, Graph | Tensor | SparseTensor)


def _move(path: str, before: str, after: str) -> str:
    return after + path[len(before) :] if path.startswith(before) else path


def copy_tensor(tensor: Tensor | SparseTensor, path: str) -> Any:
    """Return a tensor at another path: what it is of the same elements."""
    if tensor.path == path:
        return tensor
    if isinstance(tensor, SparseTensor):
        indices = tensor.indices
        if indices is not None:
            indices = copy_tensor(indices, _move(indices.path, tensor.path, path))
        values = copy_tensor(tensor.values, _move(tensor.values.path, tensor.path, path))
        return move_sparse_tensor(tensor, path, values, indices)
    return Tensor(
        tensor.name,
        path,
        tensor.dtype,
        tensor.dims,
        tensor.storage,
        lambda: tensor.stored_bytes,
        tensor.payload,
        doc=tensor.doc,
        metadata=tensor.metadata,
        external=tensor.external,
        segment=tensor.segment,
        quantization=tensor.quantization,
        device=tensor.device,
        warnings=tensor.warnings,
        find_unknown=lambda: tensor.unknown_fields,
    )
