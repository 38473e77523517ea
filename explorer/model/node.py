"""Nodes: the operations of a graph, their wiring at hand and all else read when asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn, Protocol

from netloupe.explorer.errors import ArgumentError
from netloupe.explorer.notation import write_count
from netloupe.explorer.operators import Operator, find_newest_operator

from . import upper_rooms
from .failing import fail
from .loaded import Loaded
from .node_keys import may_have_attributes, tell_oddities
from .node_names import get_node_name
from .statement import Statement
from .unknown import UnknownFields
from .value import Value, add_user
from .warning import ModelWarning

if TYPE_CHECKING:
    from .attribute import Attribute
    from .device import DeviceOption, NodeDeviceConfiguration
    from .graph import Function, Graph
    from .model import Model
    from .sparse_tensor import SparseTensor
    from .storage import StatedQuantization
    from .tensor import Tensor


@dataclass(slots=True)
class NodeDetails:
    """What a node says beyond its wiring; read when first asked for.

    Parameters
    ----------
    constant
        The tensor that the node gives, where its attributes hold it: of a Constant, or of a fill
        of Caffe2.
    quantization
        How its first result is quantized, where its attributes say so (Caffe2's 8-bit operators).
    stated_domain
        The operator's domain as the file writes it, where that differs; else None.
    engine, device, is_gradient, debug_info, op_version
        As Caffe2's OperatorDef has them; None where not stated.
    attributes
        The attributes by name.
    doc
        What it says for people.
    metadata
        The ``metadata_props`` of the node.
    device_configurations
        Its part in configurations of devices (ONNX IR 11).
    warnings
        What is odd about the node.
    """

    attributes: dict[str, Attribute] = field(default_factory=dict)
    doc: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    device_configurations: tuple[NodeDeviceConfiguration, ...] = ()
    constant: Tensor | SparseTensor | None = None
    quantization: StatedQuantization | None = None
    stated_domain: str | None = None
    engine: str = ""
    device: DeviceOption | None = None
    is_gradient: bool | None = None
    debug_info: str = ""
    op_version: int | None = None
    warnings: tuple[ModelWarning, ...] = ()

    @property
    def all_warnings(self) -> tuple[ModelWarning, ...]:
        """What is odd about the node and the tensors among its attributes."""
        return self.warnings + tuple(
            warning
            for attribute in self.attributes.values()
            for warning in attribute.tensor_warnings
        )


class NodeLoader(Protocol):
    """What a reader offers to nodes: the details of one of them, and its metadata alone."""

    def details(self, node: Node) -> NodeDetails:
        """Read everything that the file says of a node."""
        ...

    def may_have_attributes(self, node: Node) -> bool:
        """Return whether a node may have attributes, told without its details."""
        ...

    def oddities(self, node: Node) -> tuple[str, ...] | None:
        """Say what is odd about a node; None where its details need to be read for it."""
        ...

    def metadata(self, node: Node) -> dict[str, str]:
        """Read only the metadata of a node (grouping looks at every node's)."""
        ...

    def attribute_key(self, node: Node, *, is_whole: bool = False) -> bytes:
        """Return what is equal for nodes of equal attributes, graphs among them left out.

        Left out is as well what does not tell how a node is built, as sizes and what was learned
        do not; with ``is_whole`` that is in it.
        """
        ...

    def statement_key(self, node: Node) -> bytes:
        """Return what is equal for nodes of which the file says the same but for names."""
        ...

    def state(self, node: Node) -> Statement:
        """List all that the file says of a node, but for its operands and the graphs in it."""
        ...

    def unknown_fields(self, node: Node) -> UnknownFields:
        """Look for fields of a node that the schema does not know."""
        ...


#: so many nodes of a graph of which the same is odd are named; the others are counted
MOST_ALIKE = 100


class Node(Loaded):
    """One operation. Its wiring is at hand; attributes and the rest load when asked for."""

    __slots__ = {  # with a text for each: help() shows them
        "_details": "What was read on demand.",
        "_known_operator": "What the catalogue knows of the operator, once it was asked for.",
        "_loader": "Reads what the file says of the node beyond its wiring.",
        "_path": "The path, once it was asked for.",
        "_places": "By value, the indices of the inputs that are it.",
        "captures": "Values of outer graphs that the node's subgraphs take.",
        "control_inputs": "Values that the node only waits for (Caffe2).",
        "domain": "The operator set's domain; the empty string is that of ONNX's own operators.",
        "graph": "The graph that holds the node.",
        "index": "The node's place among the nodes of its graph.",
        "inputs": "The values that the node takes; None where one is left out.",
        "name": "The node's name in the file; the empty string where it has none.",
        "op_type": "The operator, or the function that is called.",
        "outputs": "The values that the node gives; None where one is left out.",
        "overload": "Tells functions of one domain and name apart (ONNX IR 10).",
        "subgraphs": "The graphs among the attributes, in file order.",
    }

    def __init__(
        self, graph: Graph, index: int, name: str, op_type: str, domain: str, loader: NodeLoader
    ) -> None:
        self.graph = graph
        self.index = index
        self.name = name
        self.op_type = op_type
        self.domain = domain
        self.overload = ""
        self.inputs: tuple[Value | None, ...] = ()
        self.outputs: tuple[Value | None, ...] = ()
        self.control_inputs: tuple[Value, ...] = ()
        self.subgraphs: tuple[Graph, ...] = ()
        self.captures: tuple[Value, ...] = ()
        self._loader = loader
        self._details: NodeDetails | None = None
        self._path = ""
        self._places: Mapping[Value | None, int | list[int]] | None = None
        self._known_operator: Operator | None = None

    def input(self, place: int) -> Value | None:
        """Return one of the inputs.

        A file may give a node fewer than its operator needs.

        Parameters
        ----------
        place
            Which one, counted from 0.

        Returns
        -------
        Value or None
            None where the input is left out, or the node has none of that number.

        Raises
        ------
        ArgumentError
            ``place`` is no whole number.
        """
        try:
            return self.inputs[place] if 0 <= place < len(self.inputs) else None
        except TypeError:
            raise _tell_mistake("input", place) from None

    def output(self, place: int) -> Value | None:
        """Return one of the outputs.

        Parameters
        ----------
        place
            Which one, counted from 0.

        Returns
        -------
        Value or None
            None where the output is left out, or the node has none of that number.

        Raises
        ------
        ArgumentError
            ``place`` is no whole number.
        """
        try:
            return self.outputs[place] if 0 <= place < len(self.outputs) else None
        except TypeError:
            raise _tell_mistake("output", place) from None

    @property
    def path(self) -> str:
        """Where the node is in the model: ``main/Conv_1``, without a name ``main/#17:Relu``."""
        if not self._path:
            self._path = f"{self.graph.path}/{get_node_name(self.graph, self.index)}"
        return self._path

    @property
    def details(self) -> NodeDetails:
        """Everything that is read on demand."""
        if self._details is None:
            try:
                self._details = self._loader.details(self)
            except Exception as error:
                self._fail(error)
        return self._details

    @property
    def attributes(self) -> dict[str, Attribute]:
        """Attributes by name, in file order; a repeated name gets ``#2`` appended."""
        if self._details is None and not may_have_attributes(self):
            return {}
        return self.details.attributes

    @property
    def doc(self) -> str:
        """The node's own documentation string."""
        return self.details.doc

    @property
    def metadata(self) -> dict[str, str]:
        """The node's metadata_props."""
        if self._details is not None:
            return self._details.metadata
        try:
            return self._loader.metadata(self)
        except Exception as error:
            self._fail(error)

    @property
    def warnings(self) -> tuple[ModelWarning, ...]:
        """What is odd about this node and the tensors among its attributes."""
        messages = tell_oddities(self)
        if messages is not None:
            return tuple([ModelWarning(self.path, message) for message in messages])
        if self._details is not None:
            return self._details.all_warnings
        try:
            # not kept: who asks all nodes of a large model would hold the details of all
            return self._loader.details(self).all_warnings
        except Exception as error:
            self._fail(error)

    @property
    def unknown_fields(self) -> UnknownFields:
        """Fields of the node, outside of its subgraphs, that the schema does not know."""
        try:
            return self._loader.unknown_fields(self)
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> NoReturn:
        element = f"node '{self.label}' in {self.graph.path}"
        fail(error, self.graph.model.source, element)

    @property
    def operator(self) -> Operator:
        """What the catalogue of operators knows of the node's operator under the model's opset."""
        known = self._known_operator
        if known is None:
            known = find_newest_operator(self.domain, self.op_type)
            if known.older:
                known = known.at(self.opset_version)
            self._known_operator = known
        return known

    @property
    def stated_domain(self) -> str:
        """The operator's domain as the file writes it: ``ai.onnx`` where ``domain`` is ""."""
        stated = self.details.stated_domain
        return self.domain if stated is None else stated

    @property
    def function(self) -> Function | None:
        """The model-local function that this node calls, if there is one."""
        return self.graph.model.function(self.domain, self.op_type, self.overload)

    @property
    def opset_version(self) -> int | None:
        """The version of the node's operator set that applies; None where not imported."""
        return self.graph.opset_version(self.domain)

    @property
    def label(self) -> str:
        """The node's name, or its op type and index where it has none."""
        return self.name or f"#{self.index}:{self.op_type}"

    def _find_model(self) -> Model:
        return self.graph.model

    def __repr__(self) -> str:
        return f"<Node {self.op_type} {self.path!r}>"

    def _repr_html_(self) -> str:
        return upper_rooms.write_node_html(self)


def _tell_mistake(method: str, place: object) -> ArgumentError:
    return ArgumentError(f"Node.{method}: place is a {type(place).__name__}. Give int.")


def list_node_warnings(graph: Graph) -> Iterator[ModelWarning]:
    """Yield what is odd about the nodes of a graph; what is said of very many is counted."""
    counts: dict[str, int] = {}

    def is_named(message: str) -> bool:
        count = counts[message] = counts.get(message, 0) + 1
        return count <= MOST_ALIKE

    for node in graph.nodes:
        messages = tell_oddities(node)
        if messages is None:
            for warning in node.warnings:
                if warning.path != node.path or is_named(warning.message):
                    yield warning
            continue
        for message in messages:
            if is_named(message):
                yield ModelWarning(node.path, message)
    for message, count in counts.items():
        if count > MOST_ALIKE:
            nodes = write_count(count - MOST_ALIKE, "more node has", "more nodes have")
            rest = f"{nodes} the same warning: {message}"
            yield ModelWarning(graph.path, rest)


def connect_node(node: Node, inputs: tuple[Value | None, ...]) -> None:
    """Set the inputs of a node, and note on each that it is used."""
    node.inputs = inputs
    for value in inputs:
        if value is None:
            continue
        if value._users is None:
            value._users = node
        else:
            add_user(value, node)


def wire_nodes(
    nodes: Sequence[Node],
    inputs: tuple[Value | None, ...],
    input_counts: Iterable[int],
    outputs: tuple[Value | None, ...],
    output_counts: Iterable[int],
) -> None:
    """Set the inputs and outputs of nodes, and note on each input that it is used.

    Parameters
    ----------
    nodes
        The nodes, without any.
    inputs, outputs
        The operands of all of them, one after the other.
    input_counts, output_counts
        How many of them each node has.
    """
    start = first = 0
    for node, taken, given in zip(nodes, input_counts, output_counts, strict=True):
        last, end = first + given, start + taken
        node.outputs = outputs[first:last]
        first = last
        operands = node.inputs = inputs[start:end]
        start = end
        for value in operands:
            if value is None:
                continue
            if value._users is None:
                value._users = node
            else:
                add_user(value, node)
