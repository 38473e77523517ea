"""Dialects: what differs between formats once a file is read, stated as data.

A model carries the dialect of its format, which its reader gives it. Everything that works on
models asks the dialect instead of asking which format it is, so that another format is another
dialect beside its reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .node import Node

#: how an operator gives a constant: it holds the elements itself (``stored``), it converts a
#: stored constant that is its first operand (``dequantized``), or it repeats one element in a
#: shape that is its first operand (``filled``)
ConstantSource = Literal["stored", "dequantized", "filled"]


@dataclass(frozen=True, slots=True)
class BodyBinding:
    """How operands and results of a node correspond to inputs and outputs of a graph inside it.

    Parameters
    ----------
    by_name
        Whether a result is what the graph gives under the same name. Graphs that see the names
        around them have no formal inputs.
    takes_operands
        Whether inputs stand for operands, one by one.
    first_operand
        The first operand, and input, that correspond.
    first_output
        The output that corresponds to the first result.
    needs_equal_numbers
        Whether this holds only where there are as many of either.
    """

    by_name: bool = False
    takes_operands: bool = True
    first_operand: int = 0
    first_output: int = 0
    needs_equal_numbers: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dialect:
    """What differs between formats: how domains are written, and what operators mean.

    Tables of operators are about those of the format's own domain, and about what
    ``same_operators`` says is the same as one of these.

    Parameters
    ----------
    name
        The format, as it is shown.
    domain
        The domain of the format's own operators, as nodes have it.
    domain_name
        What that domain is called where it is shown.
    domain_spellings
        How files write that domain besides.
    same_operators
        By another domain, those of its operators that are the format's own ones of the same name.
    has_opsets
        Whether operators belong to sets with versions, which a model imports.
    names_tensors
        Whether stored tensors are known by name, so that one without is odd.
    names_tell_scopes
        Whether the names of results tell the modules that nodes belong to.
    bodies_share_names
        Whether graphs inside nodes write the values around them under the same names.
    constants
        The operators that give a constant, and how. The reader puts the tensor of those that
        store it into :attr:`~netloupe.explorer.model.node.NodeDetails.constant`.
    constant_attributes
        Attributes by which such an operator gives numbers or strings instead of a tensor, and
        their element types.
    element_types
        Names of element types by the numbers that attributes have for them.
    element_type_attributes
        The attributes that hold such a number.
    bodies
        By operator, how its graphs correspond to it.
    other_bodies
        The same for all other operators.
    self_quantized_prefixes
        How the names of operators begin that state the scale of their first result in their own
        attributes. The reader puts it into
        :attr:`~netloupe.explorer.model.node.NodeDetails.quantization`.
    node_fields
        Further fields of :class:`~netloupe.explorer.model.node.NodeDetails` that files of this
        format state.
    """

    name: str
    domain: str
    domain_name: str
    domain_spellings: frozenset[str] = frozenset()
    same_operators: Mapping[str, frozenset[str]] = field(default_factory=dict)
    has_opsets: bool = True
    names_tensors: bool = True
    names_tell_scopes: bool = False
    bodies_share_names: bool = False
    constants: Mapping[str, ConstantSource] = field(default_factory=dict)
    constant_attributes: Mapping[str, str] = field(default_factory=dict)
    element_types: Mapping[int, str] = field(default_factory=dict)
    element_type_attributes: frozenset[str] = frozenset()
    bodies: Mapping[str, BodyBinding] = field(default_factory=dict)
    other_bodies: BodyBinding = BodyBinding(needs_equal_numbers=True)
    self_quantized_prefixes: tuple[str, ...] = ()
    node_fields: tuple[str, ...] = ()

    def read_domain(self, text: str) -> str:
        """Return the domain that nodes have where a file writes this."""
        return self.domain if text in self.domain_spellings else text

    def name_domain(self, domain: str) -> str:
        """Return what a domain is called where it is shown."""
        return self.domain_name if domain == self.domain else domain

    def name_opsets(self, imports: Mapping[str, int]) -> dict[str, int]:
        """Return versions of operator sets by the names that their domains are shown with."""
        return {self.name_domain(domain): version for domain, version in imports.items()}

    def name_operator(self, domain: str, op_type: str) -> str:
        """Return an operator's name, with the domain before it where that is not the own one."""
        return op_type if domain == self.domain else f"{domain}::{op_type}"

    def is_own(self, node: Node) -> bool:
        """Return whether a node's operator is one of the format's own, in whichever domain."""
        domain = node.domain
        return domain == self.domain or node.op_type in self.same_operators.get(domain, ())

    def constant_source(self, node: Node) -> ConstantSource | None:
        """Return how a node gives a constant, going by its operator; None for all others."""
        source = self.constants.get(node.op_type)
        return source if source is None or self.is_own(node) else None

    def is_self_quantized(self, node: Node) -> bool:
        """Return whether a node's operator states the scale of its first result itself."""
        return node.domain == self.domain and node.op_type.startswith(self.self_quantized_prefixes)

    def body_binding(self, op_type: str) -> BodyBinding:
        """Return how the graphs of an operator correspond to it."""
        return self.bodies.get(op_type, self.other_bodies)
