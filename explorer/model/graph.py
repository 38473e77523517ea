"""Graphs: nodes and the values between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from netloupe.explorer.arguments import explain_methods
from netloupe.explorer.errors import ArgumentError
from netloupe.explorer.notation import write_count

from . import upper_rooms
from .drawing import Drawable
from .failing import fail
from .filling import FilledLater
from .kept import KeptFindings
from .loaded import Loaded
from .node_names import UnnamedNodes
from .reading import GraphReading
from .unknown import UnknownFields
from .value import QuantizationAnnotation, Value
from .warning import ModelWarning
from .wiring import Wiring, read_wiring

if TYPE_CHECKING:
    from .attribute import Attribute
    from .device import DeviceOption
    from .model import Model
    from .node import Node
    from .paths import PathIndex
    from .sparse_tensor import SparseTensor
    from .tensor import Tensor
    from .types import ValueType

#: of so many domains versions are kept; a hostile file may have one for each node
_MOST_DOMAINS = 100

GraphKind = Literal["main", "subgraph", "function", "training", "init", "net", "step"]


class ForeignNodeError(Exception):
    """A node of another graph was taken for one of this graph: a mistake of ours, never a file's.

    It is no :class:`~netloupe.NetloupeError`, so that nothing takes it for damage.
    """


_NO_TYPES: Mapping[str, ValueType] = {}


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


@explain_methods(leaving=["index_of"])
class Graph(FilledLater, Drawable, Loaded):
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

    __slots__ = {  # with a text for each: help() shows them
        "_inferred_types": "Types that were inferred, by key, where the file says less.",
        "_inner_graphs": "The graphs that the nodes hold, once they were asked for.",
        "_kept": "What was found of the graph, by its type.",
        "_node_names": "What the paths of the nodes end in, by index.",
        "_opset_versions": "Versions of operator sets by domain, as they were asked for.",
        "_path_index": "The nodes by path and by name.",
        "_reading": "How more is learned of the graph than it holds.",
        "_wiring": "Who uses what, as arrays.",
        "annotations": "What the graph states about the quantization of its values.",
        "dialect": "What differs between formats; that of the model.",
        "doc": "The graph's documentation string.",
        "initializers": "The constants that are stored in the graph, without sparse ones.",
        "inputs": "The values that the graph is given, in file order.",
        "kind": "What the graph is: ``main``, ``subgraph``, ``function`` …",
        "metadata": "The graph's metadata_props.",
        "model": "The model that holds the graph.",
        "name": "The graph's own name in the file.",
        "net": "What a Caffe2 net says of itself; None for ONNX.",
        "nodes": "The nodes in file order.",
        "outputs": "The values that the graph gives, in file order.",
        "parent_attribute": "The attribute of ``parent_node`` whose value the graph is.",
        "parent_node": "The node that holds the graph; None for an outermost one.",
        "path": "Where the graph is in the model: ``main``, ``main/If_3.then_branch`` …",
        "sparse_initializers": "The sparse constants that are stored in the graph.",
        "values": "Every value of the graph by its key: its name, or one made distinct.",
        "warnings": "What is odd about the graph and what it lists.",
    }

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
        self.dialect = model.dialect
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
        self.warnings: list[ModelWarning] = []
        self._filler = None
        self._kept: KeptFindings = {}
        self._inferred_types: Mapping[str, ValueType] = _NO_TYPES
        self._inner_graphs: list[Graph] | None = None
        self._node_names: list[str] | UnnamedNodes | None = None
        self._opset_versions: dict[str, int | None] | None = None
        self._path_index: PathIndex | None = None
        self._reading = GraphReading()
        self._wiring: Wiring | None = None

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
        loader = self._reading.loader
        try:
            return () if loader is None else loader.unknown_fields()
        except Exception as error:
            fail(error, self.model.source, f"the graph {self.path}")

    def opset_version(self, domain: str) -> int | None:
        """Return the version imported for an operator domain; None where it is not.

        Parameters
        ----------
        domain
            As the file writes it; of ONNX "" and ``ai.onnx`` are the same.
        """
        known = self._opset_versions
        if known is not None and domain in known:  # asked very often
            return known[domain]
        found = self.opset_imports.get(self.dialect.read_domain(domain))
        if known is None:
            self._opset_versions = {domain: found}
        elif len(known) < _MOST_DOMAINS:
            known[domain] = found
        return found

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
        pending = [*reversed(self._inner)]
        while pending:
            graph = pending.pop()
            yield graph
            pending.extend(reversed(graph._inner))

    @property
    def _inner(self) -> list[Graph]:
        """The graphs that the nodes hold; looked for once, for a million may hold none."""
        if self._inner_graphs is None:
            self._inner_graphs = [graph for node in self.nodes for graph in node.subgraphs]
        return self._inner_graphs

    def _subject(self, view: upper_rooms.ViewKeywords) -> tuple[Model, upper_rooms.ViewKeywords]:
        if "graph" in view:
            raise TypeError("a graph draws itself and takes no option 'graph'; its model does")
        return self.model, {**view, "graph": self.path}

    def _find_model(self) -> Model:
        return self.model

    def index_of(self, node: Node) -> int:
        """Return the index of one of the graph's own nodes, for what is known of each by index.

        Parameters
        ----------
        node
            A node of this graph.

        Raises
        ------
        ArgumentError
            For what is no node.
        Exception
            For a node of another graph, whose index would be that of something else here: a
            mistake of the caller, which nothing takes for damage of a file.
        """
        try:
            is_own = node.graph is self
        except AttributeError:
            raise ArgumentError(f"index_of: node is a {type(node).__name__}. Give Node.") from None
        if not is_own:
            raise ForeignNodeError(f"{node.path} is no node of {self.path}")
        return node.index

    def __repr__(self) -> str:
        return f"<Graph {self.path!r}, {write_count(len(self.nodes), 'node')}>"

    def _repr_html_(self) -> str:
        return upper_rooms.write_graph_html(self)


class Function(Graph):
    """A model-local function: a graph that nodes call by domain, name and overload."""

    __slots__ = {
        "attribute_defaults": "Attributes that a call may leave out, with their values.",
        "attribute_names": "The attributes that a call has to give.",
        "default_graphs": "The graphs among the defaults.",
        "domain": "The domain that calls name.",
        "overload": "Tells functions of one domain and name apart.",
        "own_opset_imports": "The operator sets that the function itself imports, by domain.",
        "stated_domain": "The domain as the file writes it: ``ai.onnx`` where ``domain`` is empty.",
    }

    def __init__(self, model: Model, domain: str, name: str, overload: str, path: str) -> None:
        super().__init__(model, "function", name, path)
        self.domain = model.dialect.read_domain(domain)
        self.stated_domain = domain
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
    def calls(self) -> tuple[Node, ...]:
        """The nodes of any graph that call the function, in the order of :attr:`Model.graphs`."""
        return self.model._find_calls(self)

    @property
    def opset_imports(self) -> dict[str, int]:
        """The function's own operator sets, over those of the model."""
        return {**self.model.opset_imports, **self.own_opset_imports}


def give_inferred_types(graph: Graph, types: Mapping[str, ValueType]) -> None:
    """Let the values of a graph have inferred types, by their keys."""
    graph._inferred_types = types


def get_inferred_types(graph: Graph) -> Mapping[str, ValueType]:
    """Return the types that were inferred of values of a graph where the file says less, by key."""
    return graph._inferred_types
