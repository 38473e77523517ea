"""What an ONNX node says beyond its wiring, read when it is asked for (onnx.proto: NodeProto)."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from netloupe.explorer.model import (
    Attribute,
    Graph,
    ModelWarning,
    Node,
    NodeDetails,
    SparseTensor,
    Tensor,
)
from netloupe.explorer.model.collector import collector_paused
from netloupe.explorer.model.failing import fail
from netloupe.explorer.model.statement import Statement
from netloupe.explorer.model.unknown import UnknownFields
from netloupe.explorer.readers.protobuf.parts import iterate
from netloupe.explorer.readers.protobuf.texts import read_text

from .attributes import read_attribute
from .elements import name_message
from .parts import OnnxParts
from .statements import read_onnx_statement
from .tensors import TensorReader, read_entries

#: by index of the node and number of the attribute, the graphs of each of its fields
Subgraphs = dict[tuple[int, int], dict[str, tuple[Graph, ...]]]

#: more attributes of one node take longer with the garbage collector looking at them
_MANY_ATTRIBUTES = 10_000
#: the attributes of its operators are trees, coefficients, vocabularies and the like
_LEARNED_DOMAIN = "ai.onnx.ml"
#: by what is done with the weight, attributes that follow from its width; of groups only that there
#: are some is kept
_WIDTHS = {"convolution": ("group",), "linear": ("K", "N"), "recurrent": ("hidden_size",)}


def _write_undocumented(attribute: Any) -> bytes:
    """Return the bytes of an attribute without its documentation."""
    if attribute.HasField("doc_string"):  # some writers state an empty one
        bare = type(attribute)()
        bare.CopyFrom(attribute)
        bare.ClearField("doc_string")
        attribute = bare
    return bytes(attribute.SerializeToString())


class OnnxNodeLoader:
    """Reads the details of a graph's nodes from their messages when they are asked for.

    Parameters
    ----------
    tensors
        Reads the tensors among the attributes.
    subgraphs
        The graphs among the attributes, already read.
    parts
        What the messages were read with.
    domains
        The domains that the file writes another way than nodes have them, by index.
    """

    def __init__(
        self,
        protos: Any,
        tensors: TensorReader,
        subgraphs: Subgraphs,
        parts: OnnxParts,
        domains: dict[int, str],
    ) -> None:
        self._domains = domains
        self._has_attributes = parts.presence.attributes
        self._parts = parts
        self._protos = protos
        self._tensors = tensors
        self._subgraphs = subgraphs

    def may_have_attributes(self, node: Node) -> bool:
        """Return whether a node has attributes."""
        return self._has_attributes and bool(self._protos[node.index].attribute)

    def oddities(self, node: Node) -> tuple[str, ...] | None:
        """Say what is odd about a node's wiring; None where it has attributes."""
        if self.may_have_attributes(node):
            return None
        return tuple(_judge_wiring(node))

    def metadata(self, node: Node) -> dict[str, str]:
        """Read only the metadata of a node."""
        return read_entries(self._protos[node.index].metadata_props)

    def attribute_key(self, node: Node, *, is_whole: bool = False) -> bytes:
        """Return bytes that are equal for nodes with equal attributes, graphs and texts apart.

        Attributes that hold what was learned, or that only say how wide a tensor is, are left
        out, but for ``is_whole``: layers of different width are built alike.
        """
        attributes = self._protos[node.index].attribute if self._has_attributes else ()
        if not attributes or (node.domain == _LEARNED_DOMAIN and not is_whole):
            return b""
        left_out = () if is_whole else _WIDTHS.get(node.operator.weight_kind, ())
        return b"".join(
            _write_undocumented(attribute)
            if attribute.name not in left_out
            else b"grouped" * (attribute.name == "group" and attribute.i > 1)
            for attribute in attributes
            if not attribute.HasField("g") and not attribute.graphs
        )

    def statement_key(self, node: Node) -> bytes:
        """Return the bytes of a node without its name and those of its operands."""
        statement = type(self._protos[node.index])()
        statement.CopyFrom(self._protos[node.index])
        for field in ("name", "input", "output"):
            statement.ClearField(field)
        return bytes(statement.SerializeToString(deterministic=True))

    def state(self, node: Node) -> Statement:
        """List all that the file says of a node, but for its operands and the graphs in it."""
        return read_onnx_statement(self._protos[node.index], self._parts, self._tensors)

    def unknown_fields(self, node: Node) -> UnknownFields:
        """Find the fields of a node that the schema does not know."""
        return self._parts.find_unknown(self._protos[node.index], frozenset(("GraphProto",)))

    def details(self, node: Node) -> NodeDetails:
        """Read everything that the file says of a node."""
        proto = self._protos[node.index]
        warnings = [ModelWarning(node.path, message) for message in _judge_wiring(node)]
        if not proto.ByteSize():
            return NodeDetails(
                stated_domain=self._domains.get(node.index), warnings=tuple(warnings)
            )
        details = NodeDetails(
            stated_domain=self._domains.get(node.index),
            doc=read_text(proto.doc_string),
            metadata=read_entries(proto.metadata_props),
        )
        if proto.device_configurations:
            from .devices import read_node_configurations

            details.device_configurations = read_node_configurations(proto.device_configurations)
        with collector_paused() if len(proto.attribute) > _MANY_ATTRIBUTES else nullcontext():
            warnings += self._read_attributes(node, proto, details.attributes)
        details.constant = _find_constant(node, details)
        details.warnings = tuple(warnings)
        return details

    def _read_attributes(
        self, node: Node, proto: Any, attributes: dict[str, Attribute]
    ) -> list[ModelWarning]:
        """Add a node's attributes; return what is odd about them."""
        index, path = node.index, node.path
        subgraphs, tensors = self._subgraphs, self._tensors
        warnings: list[ModelWarning] = []
        repeated: dict[str, int] = {}
        doubles: dict[str, int] = {}
        for number, attribute_proto in enumerate(iterate(proto.attribute)):
            graphs = subgraphs.get((index, number), {}) if subgraphs else {}
            try:
                attribute = read_attribute(attribute_proto, path, tensors, graphs)
            except Exception as error:
                attribute_name = name_message(attribute_proto, "attribute")
                element = f"{attribute_name} of node '{node.label}' in {node.graph.path}"
                fail(error, node.graph.model.source, element)
            if attribute.warnings:
                warnings += attribute.warnings
            name = key = attribute.name
            while key in attributes:
                count = repeated[name] = repeated.get(name, 1) + 1
                key = f"{name}#{count}"
            if key is not name:
                doubles[name] = doubles.get(name, 1) + 1
            attributes[key] = attribute
        for name, count in doubles.items():
            times = "twice" if count == 2 else f"{count:,} times"
            warnings.append(ModelWarning(path, f"has attribute {name!r} {times}"))
        return warnings


def _judge_wiring(node: Node) -> list[str]:
    """Say what is odd about a node's operator and outputs."""
    found = [] if node.op_type else ["has no op_type"]
    for value in node.outputs:
        if value is not None and value.key != value.name:
            found.append(f"defines %{value.name}, which is defined before")
    return found


def _find_constant(node: Node, details: NodeDetails) -> Tensor | SparseTensor | None:
    """Return the tensor that a Constant gives."""
    if not node.operator.has("stores_constant"):
        return None
    values = (attribute.value for attribute in details.attributes.values())
    return next((value for value in values if isinstance(value, Tensor | SparseTensor)), None)
