"""Values: what flows between the nodes of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, NoReturn, Protocol

from . import upper_rooms
from .failing import fail
from .loaded import Loaded
from .operand_places import list_consumers
from .unknown import UnknownFields
from .warning import ModelWarning

if TYPE_CHECKING:
    from .graph import Graph
    from .model import Model
    from .node import Node
    from .sparse_tensor import SparseTensor
    from .tensor import Tensor
    from .types import ValueType


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

    def list_types(self, places: Sequence[int]) -> list[ValueType | None]:
        """Return the types that are stated at some places, those of many places once."""
        ...

    def types_at(self, places: Sequence[int]) -> list[ValueType | None]:
        """Return the type that is stated at each place; equal ones are one object."""
        ...


@dataclass(slots=True)
class _ValueNotes:
    """What is said of few values only."""

    annotation: QuantizationAnnotation | None = None
    doc: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    warnings: tuple[ModelWarning, ...] = ()


_GET_TYPE = attrgetter("type")


class Value(Loaded):
    """Something that flows along an edge: an input, a node's output, or an initializer.

    ``producer`` is None for graph inputs, initializers and names that nothing produces.
    ``is_parameter`` marks an input that only serves as a weight, its elements being in another
    file that was not given (a Caffe2 net without its init net).

    Notes
    -----
    A large model has some hundred thousand values, most of which are never looked at: what is
    seldom said of them is kept apart, and what the file says of types is read when asked for.
    """

    __slots__ = {  # with a text for each: help() shows them
        "_notes": "What is said of few values only.",
        "_number": "The value's number in its graph's wiring, while that is made.",
        "_place": "Where the graph's value loader finds the rest; -1 for nowhere.",
        "_type": "The type that is stated, once it was read.",
        "_users": "The nodes that take the value: none, the only one, or a list.",
        "graph": "The graph that the value belongs to.",
        "initializer": "The constant that is stored under this name; None for none.",
        "is_input": "Whether the graph lists the value as an input.",
        "is_output": "Whether the graph lists the value as an output.",
        "is_parameter": "Whether the value is a weight whose elements were not given.",
        "key": "The name among the graph's values; of a name that is given again ``conv1#2``.",
        "name": "The value's name in the file.",
        "output_index": "Which output of its producer the value is; -1 for none.",
        "producer": "The node that gives the value; None for none.",
    }

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
        self.key = key or name
        self.graph = graph
        self.producer = producer
        self.output_index = output_index
        self.initializer: Tensor | SparseTensor | None = None
        self.is_input = False
        self.is_output = False
        self.is_parameter = False
        self._place = place
        self._number = -1
        self._type: ValueType | None = None
        self._users: Node | list[Node] | None = None
        self._notes: _ValueNotes | None = None

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
        return tuple(list_consumers(self))

    def _load(self) -> None:
        place, self._place = self._place, -1
        loader = self.graph._reading.value_loader
        if loader is not None:
            try:
                loader.fill(self, place)
            except Exception as error:
                self._fail(error)

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
    def inferred_type(self) -> ValueType | None:
        """The type that follows where the file states none, or less than what follows.

        Without :meth:`Model.infer_shapes` it is that of the constant behind the value, if there
        is one, also through DequantizeLinear; with it, what onnx infers as well. Sizes that
        stay unknown have no names but those of the file. None where nothing follows, and where
        it is just what the file states: ``value.inferred_type or value.type`` is the best that
        is known, and ``value.type`` stays what the file says.
        """
        found = self.graph._inferred_types.get(self.key)
        if found is not None:
            return found
        return upper_rooms.infer_type(self) if self.type is None else None

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
        loader = self.graph._reading.loader
        try:
            return () if loader is None else loader.unknown_fields_of_value(self.name)
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> NoReturn:
        fail(error, self.graph.model.source, f"value '{self.key}' in {self.graph.path}")

    def _find_model(self) -> Model:
        return self.graph.model

    def __repr__(self) -> str:
        inferred = self.inferred_type
        text = str(inferred or self.type or "type unknown")[:100]
        note = "" if inferred is None else ", inferred"
        return f"<Value {self.path!r} {text if text.isprintable() else repr(text)}{note}>"


def add_user(value: Value, node: Node) -> None:
    """Note that a node takes a value, whatever the number of its inputs that do."""
    users = value._users
    if users is None:
        value._users = node
    elif isinstance(users, list):
        if users[-1] is not node:
            users.append(node)
    elif users is not node:
        value._users = [users, node]


def read_later(value: Value, place: int) -> None:
    """Note where the value loader of its graph finds more that is said of a value."""
    if value._place >= 0:
        value._load()
    value._place = place


def may_have_type(value: Value) -> bool:
    """Return whether the file may state a type beside the initializer's, told without reading it.

    A place is where the file says more of a value, which is nearly always its type.
    """
    return value._place >= 0 or value._type is not None


def has_notes(value: Value) -> bool:
    """Return whether there may be texts, warnings or an annotation of a value that was read."""
    return value._notes is not None


def share_notes(value: Value, origin: Value) -> None:
    """Let a value have the texts, warnings and annotation of the one that it is made of."""
    value._notes = origin._notes


def list_types(values: Iterable[Value]) -> list[ValueType | None]:
    """Return the types of some values, a type that many of them share once.

    What the file says of a million values is looked at, and not kept on each of them.
    """
    values = tuple(values)
    late = [v for v in values if v._place >= 0 and v._type is None and v.initializer is None]
    others: Iterable[Value] = ()
    if len(late) < len(values):
        known = set(late)
        others = [value for value in values if value not in known]
    found = {id(stated): stated for stated in map(_GET_TYPE, others)}
    for graph in {value.graph for value in late}:
        places = [value._place for value in late if value.graph is graph]
        loader = graph._reading.value_loader
        stated_types = loader.list_types(places) if loader is not None else [None]
        found.update((id(stated), stated) for stated in stated_types)
    return list(found.values())


def list_each_type(graph: Graph, values: Sequence[Value]) -> list[ValueType | None]:
    """Return the type of each of some values of a graph; what is read for it is not kept."""
    late = [v for v in values if v._place >= 0 and v._type is None and v.initializer is None]
    loader = graph._reading.value_loader
    if loader is None or not late:
        return [value.type for value in values]
    stated = dict(zip(late, loader.types_at([value._place for value in late]), strict=True))
    return [stated.get(value) or value.type for value in values]
