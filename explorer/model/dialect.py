"""Dialects: what differs between formats once a file is read, stated as data.

What operators are is the catalogue's to say.

A model carries the dialect of its format, which its reader gives it. Everything that works on
models asks the dialect instead of asking which format it is, so that another format is another
dialect beside its reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netloupe.explorer.operators import Operator

    from .node import Node


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
        The first operand, and input, that correspond: 1 for Loop, whose graph is given the number
        of the iteration first, which stands for no operand.
    first_output
        The output that corresponds to the first result: 1 for Loop, whose graph gives its
        condition first.
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
    """What differs between formats: how domains, names and types are written.

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
    constant_attributes
        Attributes by which an operator that stores a constant gives numbers or strings instead
        of a tensor, and their element types. The tensor the reader puts into
        :attr:`~netloupe.explorer.model.node.NodeDetails.constant`.
    element_types
        Names of element types by the numbers that attributes have for them.
    element_type_attributes
        The attributes that hold such a number.
    other_bodies
        How the graphs of an operator correspond to it where the catalogue does not say so.
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
    constant_attributes: Mapping[str, str] = field(default_factory=dict)
    element_types: Mapping[int, str] = field(default_factory=dict)
    element_type_attributes: frozenset[str] = frozenset()
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

    def is_self_quantized(self, node: Node) -> bool:
        """Return whether a node's operator states the scale of its first result itself."""
        return node.domain == self.domain and node.op_type.startswith(self.self_quantized_prefixes)

    def body_binding(self, operator: Operator) -> BodyBinding:
        """Return how the graphs of an operator correspond to it."""
        return self.other_bodies if operator.body is None else BodyBinding(**operator.body)
