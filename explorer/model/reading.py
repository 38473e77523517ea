"""What whoever makes a model or a graph leaves with it, so that the rest is read when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from .statement import Statement
from .unknown import UnknownFields

if TYPE_CHECKING:
    from . import upper_rooms
    from .graph import Graph
    from .model import Model
    from .value import ValueLoader


class GraphLoader(Protocol):
    """What a reader offers to graphs: what the file says of them and what they hold, in full."""

    def unknown_fields(self) -> UnknownFields:
        """Look for fields of the graph itself that the schema does not know."""
        ...

    def unknown_fields_of_value(self, name: str) -> UnknownFields:
        """Look for such fields of what the graph says of a value."""
        ...

    def state_graph(self) -> Statement:
        """List all that the file says of the graph itself."""
        ...

    def key_values(self) -> Mapping[str, int]:
        """Return by name of a value what is equal where the file says the same of it."""
        ...

    def state_value(self, name: str) -> Statement:
        """List all that the file says of a value."""
        ...

    def state_tensor(self, place: int) -> Statement:
        """List all that the file says of an initializer, but for its elements."""
        ...

    def key_tensor(self, place: int) -> bytes | None:
        """Return what is equal where the file says the same of an initializer, elements included.

        None where its elements are not at hand; then it says nothing.
        """
        ...

    def state_sparse(self, place: int) -> Statement:
        """List all that the file says of a sparse initializer."""
        ...


@dataclass(slots=True)
class GraphReading:
    """How more is learned of a graph than it holds.

    Parameters
    ----------
    loader
        Reads what the file says of the graph; None for a graph that stands for no message.
    value_loader
        Reads what the file says of values beyond their names.
    has_denotations
        False where it is known that no type in the graph has a denotation.
    stated_domains
        Domains that the file writes otherwise than ``node.domain`` has them, by index of the node.
    stated_imports
        Of a function: the domains that it imports, as the file writes them.
    group_nodes
        Groups the nodes of a graph that was made of two, where these say how: takes what groups
        come from, and the indices of the nodes that are taken, None for all.
    """

    loader: GraphLoader | None = None
    value_loader: ValueLoader | None = None
    has_denotations: bool = True
    stated_domains: Mapping[int, str] = field(default_factory=dict)
    stated_imports: frozenset[str] = frozenset()
    group_nodes: Callable[[str, frozenset[int] | None], upper_rooms.GroupTree] | None = None


@dataclass(slots=True)
class ModelReading:
    """How more is learned of a model than it holds.

    Parameters
    ----------
    parts
        What the model was read from, for its reader to write it in another form; of ONNX alone.
    state
        Lists all that the file says of the model as a whole.
    left_out
        What the file says that its reader could not take in, in words.
    """

    parts: object = None
    state: Callable[[], Statement] | None = None
    left_out: tuple[str, ...] = ()


def get_graph_reading(graph: Graph) -> GraphReading:
    """Return how more is learned of a graph; reads what it holds, where that was left for later."""
    return graph._reading


def set_graph_reading(graph: Graph, reading: GraphReading) -> None:
    """Say how more is learned of a graph that is being filled."""
    graph._reading = reading


def get_model_reading(model: Model) -> ModelReading:
    """Return how more is learned of a model."""
    return model._reading
