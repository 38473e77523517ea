"""Graphs, nodes and values: the wiring of a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Literal, Protocol

from .filling import FilledLater
from .node_names import list_node_names
from .unknown import UnknownFields
from .value import QuantizationAnnotation, Value, ValueLoader
from .warning import ModelWarning
from .wiring import Wiring, read_wiring

if TYPE_CHECKING:
    from .attribute import Attribute
    from .device import DeviceOption, NodeDeviceConfiguration
    from .model import Model
    from .tensor import SparseTensor, Tensor

GraphKind = Literal["main", "subgraph", "function", "training", "init", "net", "step"]


@dataclass(slots=True)
class NodeDetails:
    """What a node says beyond its wiring; read when first asked for.

    Parameters
    ----------
    constant
        The tensor that the node gives, where it is a fill whose arguments hold it (Caffe2).
    engine, device, is_gradient, debug_info, op_version
        As Caffe2's OperatorDef has them; None where not stated.
    """

    attributes: dict[str, Attribute] = field(default_factory=dict)
    doc: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    device_configurations: tuple[NodeDeviceConfiguration, ...] = ()
    constant: Tensor | None = None
    engine: str = ""
    device: DeviceOption | None = None
    is_gradient: bool | None = None
    debug_info: str = ""
    op_version: int | None = None
    warnings: tuple[ModelWarning, ...] = ()


class NodeLoader(Protocol):
    """What a reader offers to nodes: the details of one of them, and its metadata alone."""

    def details(self, node: Node) -> NodeDetails:
        """Read everything that the file says of a node."""
        ...

    def metadata(self, node: Node) -> dict[str, str]:
        """Read only the metadata of a node (grouping looks at every node's)."""
        ...

    def attribute_key(self, node: Node) -> bytes:
        """Return what is equal for nodes of equal attributes, graphs among them left out."""
        ...

    def unknown_fields(self, node: Node) -> UnknownFields:
        """Look for fields of a node that the schema does not know."""
        ...


class UnknownFinder(Protocol):
    """What a reader offers to graphs: the fields that the schema does not know."""

    def of_graph(self) -> UnknownFields:
        """Look for those of the graph itself."""
        ...

    def of_value(self, name: str) -> UnknownFields:
        """Look for those of what the graph says of a value."""
        ...


@dataclass(frozen=True, slots=True)
class NetDetails:
    """What a Caffe2 net says of itself beyond its operators.

    ``external_inputs`` and ``external_outputs`` are the names as listed, those that an init
    net fills included.
    """

    net_type: str = ""
    num_workers: int | None = None
    device: DeviceOption | None = None
    arguments: dict[str, Attribute] = field(default_factory=dict)
    external_inputs: tuple[str, ...] = ()
    external_outputs: tuple[str, ...] = ()


#: inputs of a node of which it remembers where each is
_MANY_INPUTS = 32


class Node:
    """One operation. Its wiring is at hand; attributes and the rest load when asked for."""

    __slots__ = (
        "_details",
        "_loader",
        "_path",
        "_places",
        "captures",
        "control_inputs",
        "domain",
        "graph",
        "index",
        "inputs",
        "name",
        "op_type",
        "outputs",
        "overload",
        "subgraphs",
    )

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
        self._places: dict[Value, list[int]] | None = None

    @property
    def path(self) -> str:
        """Where the node is in the model: ``main/Conv_1``, without a name ``main/#17:Relu``."""
        if not self._path:
            self._path = f"{self.graph.path}/{self.graph.node_names[self.index]}"
        return self._path

    def places_of(self, value: Value) -> Sequence[int]:
        """Return the indices of the inputs that are a value."""
        if len(self.inputs) < _MANY_INPUTS:
            return [index for index, taken in enumerate(self.inputs) if taken is value]
        if self._places is None:  # else looking at each value would take the square of the time
            self._places = {}
            for index, taken in enumerate(self.inputs):
                if taken is not None:
                    self._places.setdefault(taken, []).append(index)
        return self._places.get(value, ())

    def connect(self, inputs: tuple[Value | None, ...]) -> None:
        """Set the inputs, and note on each that this node uses it."""
        self.inputs = inputs
        for value in inputs:
            if value is None:
                continue
            if value._users is None:
                value._users = self
            else:
                value.add_user(self)

    @property
    def details(self) -> NodeDetails:
        """Everything that is read on demand."""
        if self._details is None:
            self._details = self._loader.details(self)
        return self._details

    @property
    def attributes(self) -> dict[str, Attribute]:
        """Attributes by name, in file order; a repeated name gets ``#2`` appended."""
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
        return self._loader.metadata(self)

    @property
    def attribute_key(self) -> bytes:
        """Equal for nodes of equal attributes, graphs left out; no tensor is decoded for it."""
        return self._loader.attribute_key(self)

    @property
    def warnings(self) -> tuple[ModelWarning, ...]:
        """What is odd about this node and the tensors among its attributes."""
        details = self.details
        return details.warnings + tuple(
            warning
            for attribute in details.attributes.values()
            for warning in attribute.tensor_warnings
        )

    @property
    def unknown_fields(self) -> UnknownFields:
        """Fields of the node, outside of its subgraphs, that the schema does not know."""
        return self._loader.unknown_fields(self)

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

    def __repr__(self) -> str:
        return f"<Node {self.op_type} {self.path!r}>"

    def _repr_html_(self) -> str:
        from netloupe.explorer.render.html import describe_node

        return describe_node(self)


def wire_nodes(
    nodes: Sequence[Node],
    inputs: tuple[Value | None, ...],
    input_ends: Sequence[int],
    outputs: tuple[Value | None, ...],
    output_ends: Sequence[int],
) -> None:
    """Set the inputs and outputs of nodes, and note on each input that it is used.

    Parameters
    ----------
    nodes
        The nodes, without any.
    inputs, outputs
        The operands of all of them, one after the other.
    input_ends, output_ends
        Where those of each node end, after a 0 for the first to begin at.
    """
    start = first = 0
    ends = zip(islice(input_ends, 1, None), islice(output_ends, 1, None), strict=True)
    for node, (end, last) in zip(nodes, ends, strict=True):
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
                value.add_user(node)


class Graph(FilledLater):
    """Nodes in file order and the values between them.

    Parameters
    ----------
    model
        The model that holds the graph.
    kind
        ``main``, ``subgraph`` (the value of a node's attribute), ``function`` or ``training``;
        of Caffe2 also ``init`` (what an init net does besides filling), ``net`` (of a plan) and
        ``step`` (what an execution step of a plan runs).
    name
        The graph's own name in the file.
    path
        ``main``, ``main/If_3.then_branch``, ``functions/domain::Name`` …
    """

    def __init__(
        self,
        model: Model,
        kind: GraphKind,
        name: str,
        path: str,
        parent_node: Node | None = None,
        parent_attribute: str = "",
    ) -> None:
        self.model = model
        self.kind = kind
        self.name = name
        self.path = path
        self.parent_node = parent_node
        self.parent_attribute = parent_attribute
        self.nodes: list[Node] = []
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.values: dict[str, Value] = {}
        self.initializers: list[Tensor] = []
        self.sparse_initializers: list[SparseTensor] = []
        self.annotations: list[QuantizationAnnotation] = []
        self.doc = ""
        self.metadata: dict[str, str] = {}
        self.net: NetDetails | None = None
        self.unknown_finder: UnknownFinder | None = None
        self.warnings: list[ModelWarning] = []
        self.value_loader: ValueLoader | None = None
        #: False where the reader knows that no type in the graph has a denotation
        self.has_denotations = True
        self._node_names: list[str] | None = None
        self._wiring: Wiring | None = None

    @property
    def node_names(self) -> list[str]:
        """What the paths of the nodes end in, by index; found when first asked for.

        Not to be asked for before the graph has all its nodes.
        """
        if self._node_names is None:
            self._node_names = list_node_names(self.nodes)
        return self._node_names

    @property
    def wiring(self) -> Wiring:
        """Who uses what, as arrays; made when first asked for, if the reader did not.

        Not to be asked for before the graph has all its nodes.
        """
        nodes = self.nodes  # a graph that waits to be filled gets its wiring with them
        if self._wiring is None or len(self._wiring.operators) != len(nodes):
            self._wiring = read_wiring(self)
        return self._wiring

    @wiring.setter
    def wiring(self, wiring: Wiring) -> None:
        self._wiring = wiring

    @property
    def unknown_fields(self) -> UnknownFields:
        """Fields of the graph itself that the schema does not know."""
        return () if self.unknown_finder is None else self.unknown_finder.of_graph()

    def opset_version(self, domain: str) -> int | None:
        """Return the version imported for an operator domain; None where it is not."""
        return self.opset_imports.get("" if domain == "ai.onnx" else domain)

    @property
    def opset_imports(self) -> dict[str, int]:
        """Operator sets in force here: the enclosing function's or the model's."""
        graph = self
        while graph.parent_node is not None:
            graph = graph.parent_node.graph
        return self.model.opset_imports if graph is self else graph.opset_imports

    @property
    def subgraphs(self) -> Iterator[Graph]:
        """Every graph nested in this one, at any depth, in file order."""
        pending = [graph for node in reversed(self.nodes) for graph in reversed(node.subgraphs)]
        while pending:
            graph = pending.pop()
            yield graph
            pending.extend(
                inner for node in reversed(graph.nodes) for inner in reversed(node.subgraphs)
            )

    def __repr__(self) -> str:
        return f"<Graph {self.path!r}, {len(self.nodes)} nodes>"

    def _repr_html_(self) -> str:
        from netloupe.explorer.render.html import describe_graph

        return describe_graph(self)


class Function(Graph):
    """A model-local function: a graph that nodes call by domain, name and overload."""

    def __init__(self, model: Model, domain: str, name: str, overload: str, path: str) -> None:
        super().__init__(model, "function", name, path)
        self.domain = domain
        self.overload = overload
        self.attribute_names: tuple[str, ...] = ()
        self.attribute_defaults: dict[str, Attribute] = {}
        self.default_graphs: list[Graph] = []
        self.own_opset_imports: dict[str, int] = {}

    @property
    def subgraphs(self) -> Iterator[Graph]:
        """Every graph nested in the body, then those that are defaults of attributes."""
        yield from super().subgraphs
        for graph in self.default_graphs:
            yield graph
            yield from graph.subgraphs

    @property
    def opset_imports(self) -> dict[str, int]:
        """The function's own operator sets, over those of the model."""
        return {**self.model.opset_imports, **self.own_opset_imports}
