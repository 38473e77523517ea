"""Graphs, nodes and values: the wiring of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, Protocol

from .node_names import list_node_names
from .unknown import UnknownFields
from .warning import ModelWarning

if TYPE_CHECKING:
    from .attribute import Attribute
    from .device import DeviceOption, NodeDeviceConfiguration
    from .model import Model
    from .tensor import SparseTensor, Tensor
    from .types import ValueType

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


@dataclass(frozen=True, slots=True)
class QuantizationAnnotation:
    """A graph's own statement about how one value is quantized.

    Parameters
    ----------
    tensor_name
        The value that is annotated.
    entries
        Keys and values verbatim. ``SCALE_TENSOR`` and ``ZERO_POINT_TENSOR`` name tensors
        (ONNX IR specification, TensorAnnotation); other keys hold what their tool put there.
    """

    tensor_name: str
    entries: tuple[tuple[str, str], ...]


class ValueLoader(Protocol):
    """What a reader offers to values: what the file says of one beyond its name."""

    def fill(self, value: Value, place: int) -> None:
        """Set what is said of a value at a place that only the reader understands."""
        ...


@dataclass(slots=True)
class _ValueNotes:
    """What is said of few values only."""

    key: str = ""
    annotation: QuantizationAnnotation | None = None
    doc: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    warnings: tuple[ModelWarning, ...] = ()


class Value:
    """Something that flows along an edge: an input, a node's output, or an initializer.

    ``producer`` is None for graph inputs, initializers and names that nothing produces.
    ``is_parameter`` marks an input that only serves as a weight, its elements being in another
    file that was not given (a Caffe2 net without its init net).

    Notes
    -----
    A large model has some hundred thousand values, most of which are never looked at: what is
    seldom said of them is kept apart, and what the file says of types is read when asked for.
    """

    __slots__ = (
        "_notes",
        "_place",
        "_type",
        "_users",
        "graph",
        "initializer",
        "is_input",
        "is_output",
        "is_parameter",
        "name",
        "output_index",
        "producer",
    )

    def __init__(
        self,
        name: str,
        graph: Graph,
        key: str = "",
        producer: Node | None = None,
        output_index: int = -1,
        place: int = -1,
    ) -> None:
        self.name = name
        self.graph = graph
        self.producer = producer
        self.output_index = output_index
        self.initializer: Tensor | SparseTensor | None = None
        self.is_input = False
        self.is_output = False
        self.is_parameter = False
        #: where the graph's value loader finds the rest; -1 where nothing is left to read
        self._place = place
        self._type: ValueType | None = None
        #: the nodes that use the value: none, the only one, or a list
        self._users: Node | list[Node] | None = None
        self._notes: _ValueNotes | None = _ValueNotes(key) if key and key != name else None

    @property
    def key(self) -> str:
        """The value's name among those of its graph.

        It differs from ``name`` where the same name is given again (Caffe2 reuses blobs in
        place): ``conv1#2``.
        """
        return (self._notes is not None and self._notes.key) or self.name

    @key.setter
    def key(self, key: str) -> None:
        self._noted().key = key

    @property
    def is_used(self) -> bool:
        """Whether any node takes the value, in this graph or one inside it."""
        return self._users is not None

    @property
    def users(self) -> Sequence[Node]:
        """The nodes of any graph that take the value, subgraphs included, each once in a row."""
        users = self._users
        if users is None:
            return ()
        return users if isinstance(users, list) else (users,)

    @property
    def consumers(self) -> tuple[tuple[Node, int], ...]:
        """(node, input index) of every use, in the order of :attr:`users`."""
        return tuple(
            (node, index)
            for node in self.users
            for index, value in enumerate(node.inputs)
            if value is self
        )

    def add_user(self, node: Node) -> None:
        """Note that a node takes the value, whatever the number of its inputs that do."""
        users = self._users
        if users is None:
            self._users = node
        elif isinstance(users, list):
            if users[-1] is not node:
                users.append(node)
        elif users is not node:
            self._users = [users, node]

    def _load(self) -> None:
        place, self._place = self._place, -1
        loader = self.graph.value_loader
        if loader is not None:
            loader.fill(self, place)

    def _noted(self) -> _ValueNotes:
        if self._notes is None:
            self._notes = _ValueNotes()
        return self._notes

    @property
    def type(self) -> ValueType | None:
        """The type that is stated, else that of the initializer, else None."""
        if self._place >= 0:
            self._load()
        if self._type is None and self.initializer is not None:
            self._type = self.initializer.type
        return self._type

    @type.setter  # noqa: A003 - the property is meant
    def type(self, stated: ValueType | None) -> None:
        if self._place >= 0:
            self._load()
        self._type = stated

    @property
    def annotation(self) -> QuantizationAnnotation | None:
        """What the graph states about the value's quantization."""
        return self._notes.annotation if self._notes is not None else None

    @annotation.setter
    def annotation(self, annotation: QuantizationAnnotation | None) -> None:
        self._noted().annotation = annotation

    @property
    def doc(self) -> str:
        """The value's documentation string."""
        if self._place >= 0:
            self._load()
        return self._notes.doc if self._notes is not None else ""

    @doc.setter
    def doc(self, doc: str) -> None:
        if self._place >= 0:
            self._load()
        self._noted().doc = doc

    @property
    def metadata(self) -> dict[str, str]:
        """The value's metadata_props."""
        if self._place >= 0:
            self._load()
        return self._noted().metadata

    @metadata.setter
    def metadata(self, metadata: dict[str, str]) -> None:
        if self._place >= 0:
            self._load()
        self._noted().metadata = metadata

    @property
    def warnings(self) -> tuple[ModelWarning, ...]:
        """What is odd about the value itself."""
        return self._notes.warnings if self._notes is not None else ()

    @warnings.setter
    def warnings(self, warnings: tuple[ModelWarning, ...]) -> None:
        self._noted().warnings = warnings

    @property
    def path(self) -> str:
        """``main/%name``: the percent sign tells values from nodes."""
        return f"{self.graph.path}/%{self.key}"

    @property
    def unknown_fields(self) -> UnknownFields:
        """Fields of what the graph says of this value that the schema does not know."""
        finder = self.graph.unknown_finder
        return () if finder is None else finder.of_value(self.name)

    def __repr__(self) -> str:
        text = str(self.type or "type unknown")[:100]
        return f"<Value {self.path!r} {text if text.isprintable() else repr(text)}>"


class Node:
    """One operation. Its wiring is at hand; attributes and the rest load when asked for."""

    __slots__ = (
        "_details",
        "_loader",
        "_path",
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

    @property
    def path(self) -> str:
        """Where the node is in the model: ``main/Conv_1``, without a name ``main/#17:Relu``."""
        if not self._path:
            self._path = f"{self.graph.path}/{self.graph.node_names[self.index]}"
        return self._path

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
    def warnings(self) -> tuple[ModelWarning, ...]:
        """What is odd about this node."""
        return self.details.warnings

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


#: what :meth:`Graph.fill_later` leaves open
_LATE = (
    "annotations",
    "doc",
    "has_denotations",
    "initializers",
    "inputs",
    "metadata",
    "nodes",
    "outputs",
    "sparse_initializers",
    "unknown_finder",
    "value_loader",
    "values",
    "warnings",
)
_filling = RLock()


class Graph:
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

    def fill_later(self, fill: Callable[[], None]) -> None:
        """Leave an empty graph to be filled when anything in it is asked for first."""
        late = {name: vars(self).pop(name) for name in _LATE}
        self._fill: tuple[Callable[[], None] | None, dict[str, Any]] = (fill, late)

    if not TYPE_CHECKING:  # which would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            # called where there is no such attribute: of a graph that is not filled yet
            if name not in _LATE:
                raise AttributeError(f"a graph has no attribute {name!r}")
            with _filling:
                self._fill_now()
                own = vars(self)
                return own[name] if name in own else own["_fill"][1][name]

    def _fill_now(self) -> None:
        """Fill a graph that was left; other threads see nothing of it until it is whole."""
        own = vars(self)
        fill, late = own.get("_fill", (None, {}))
        if fill is None:  # filled meanwhile, or asked by what is filling it
            return
        self._fill = (None, late)
        try:
            fill()
        except BaseException:  # an interrupt in a notebook: the next who asks fills it anew
            for name, empty in late.items():
                own.pop(name, None)
                if isinstance(empty, (list, dict)):
                    empty.clear()
            self._fill = (fill, late)
            raise
        own.update({name: content for name, content in late.items() if name not in own})
        del self._fill

    @property
    def node_names(self) -> list[str]:
        """What the paths of the nodes end in, by index; found when first asked for.

        Not to be asked for before the graph has all its nodes.
        """
        if self._node_names is None:
            self._node_names = list_node_names(self.nodes)
        return self._node_names

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
