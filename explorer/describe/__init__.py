"""What a person is told about an element of a model.

A model, graph, node, value, tensor or group comes in; out goes a :class:`Description`, which
the command line, the notebook's inspector and reports all render. It must not know HTML or
widgets, and reads a tensor's elements only where statistics are asked for.
"""

from .as_json import to_json
from .bundles import describe_values
from .description import Description, Row, Section
from .element import describe_element, describe_path
from .graphs import describe_function, describe_graph, describe_group
from .models import describe_contents, describe_model, describe_outline
from .nodes import describe_node
from .place import Place, find_place
from .several import describe_several
from .statistics import (
    add_statistics,
    choose_elements,
    describe_histogram,
    describe_parts,
    describe_statistics,
    list_statistics,
)
from .tensors import describe_tensor
from .text import format_text
from .values import describe_value

__all__ = [
    "Description",
    "Place",
    "Row",
    "Section",
    "add_statistics",
    "choose_elements",
    "describe_contents",
    "describe_element",
    "describe_function",
    "describe_graph",
    "describe_group",
    "describe_histogram",
    "describe_model",
    "describe_node",
    "describe_outline",
    "describe_parts",
    "describe_path",
    "describe_several",
    "describe_statistics",
    "describe_tensor",
    "describe_value",
    "describe_values",
    "find_place",
    "format_text",
    "list_statistics",
    "to_json",
]
