"""What operators are: one entry for each, by domain and name, read from ``catalogue.json``.

An entry has the members (all may be missing; the words are those of ``vocabulary.py``)

- ``operands``, ``results``: the role of each, with spaces between: ``data weight bias``. A star
  (``data*``) says that it stands for all further ones; several with stars take turns.
  ``weight.scale`` is the scale of the operand ``weight``, or of that ``data`` which stands before
  it; ``result.scale`` that of the first result;
- ``traits``: what it does, with spaces between;
- ``form_of``: an operator, of the same domain or of ``ai.onnx``, that it does the work of: with
  quantized operands, with an activation, in another layout or under another name. Roles, traits,
  family and weight are those of that operator where none are given. One that was registered and
  has neither operands, dims nor macs of its own is also counted like that operator;
- ``activation``: the activation that is applied to the result; ``activation:`` where an attribute
  of that name tells it;
- ``family``: the family that a picture colours it as;
- ``weight``: what it does with its weight, and how the weight's dimensions are to be read:
  ``convolution conv``;
- ``rule``, ``per_element``, ``per_operand``: the rule of the room ``costs`` that tells its results
  and MACs, and other operations for each element of the first result and of the first operand;
- ``dims``, ``macs``: of an operator that was registered, in place of a rule: what the axes of
  operands and results are called (``N K, M K -> N M``), and MACs as a formula of these names
  (``N*M*K``); see ``formulas.py``;
- ``quantized``: ``linear`` where quantized operands with roles of scales and zero points mean
  (element - zero point) · scale. ``scale_axes`` names the axes that the definition fixes for scales
  that differ;
- ``body``: how the graphs of an operator that runs graphs correspond to it;
- ``before``: by a version what differs before that version.

Sources: the ONNX operator specification; ONNX Runtime's ContribOperators; the documentation of
Caffe2's operators; that of QONNX, FINN and Brevitas.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .entries import complete_entry, is_registered, name_form, read_shipped
from .formulas import Formula, NamedDims, parse_dims, parse_formula
from .plugins import PLUGINS
from .registry import REGISTERED, kept_with_catalogue
from .vocabulary import ARRANGING_ROLES, WEIGHT_ROLES, kind_of

#: what an operator does with its weight
WeightKind = Literal[
    "convolution", "linear", "recurrent", "embedding", "normalization", "attention", "experts", "ml"
]
#: how the dimensions of a weight are to be read; "" where nothing is said of features
Layout = Literal["", "conv", "conv_transposed", "linear", "linear_transposed", "recurrent", "table"]


@dataclass(frozen=True, slots=True)
class RoleList:
    """The roles of operands, or of results, by place.

    Parameters
    ----------
    repeated
        So many of the last ones take turns for all further places.
    """

    names: tuple[str, ...] = ()
    repeated: int = 0

    def at(self, place: int) -> str:
        """Return the role at a place, ``weight1``; "" where none is known."""
        if place < len(self.names):
            return self.names[place] if place >= 0 else ""
        if not self.repeated:
            return ""
        first = len(self.names) - self.repeated
        return self.names[first + (place - first) % self.repeated]

    def kind_at(self, place: int) -> str:
        """Return the role at a place without number and owner: ``weight`` of ``weight1.scale``."""
        return kind_of(self.at(place))

    def name_at(self, place: int) -> str:
        """Return what to call a place: its role, ``data[1]`` where it is the second of that role.

        "" where no role is known.
        """
        role = self.at(place)
        first = len(self.names) - self.repeated
        before, turning = self.names[: min(place, first)], self.names[first:]
        if not role or (role not in turning and self.names.count(role) == 1):
            return role
        number = before.count(role)
        if place > first and self.repeated:
            turns, rest = divmod(place - first, self.repeated)
            number += turns * turning.count(role) + turning[:rest].count(role)
        return f"{role}[{number}]"

    def find(self, *roles: str) -> int | None:
        """Return the place of the first of some roles that is there, written in full; else None."""
        return next((self.names.index(role) for role in roles if role in self.names), None)

    def list_of(self, *kinds: str) -> tuple[int, ...]:
        """Return the places of some roles, whatever their numbers; scales and such are left out."""
        return tuple(
            place
            for place, name in enumerate(self.names)
            if "." not in name and kind_of(name) in kinds
        )


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """What is known of an operator.

    Parameters
    ----------
    domain, op_type
        Its name; ``""`` is the domain ``ai.onnx``.
    is_known
        Whether the catalogue has it, or somebody registered it.
    form
        The op_type of the operator that it is a form of; its own where it is none. An operator of
        an unknown domain has that before it: ``com.example::Relu``.
    activation
        The op_type of an activation that is applied to the result, or the name of an attribute
        that tells it with a colon behind.
    operands, results
        The roles of each.
    traits
        What it does: words of :data:`~netloupe.explorer.operators.vocabulary.TRAITS`.
    family
        A key of a theme's palette; "" where unknown.
    weight_kind, weight_layout
        What it does with its weight, and how its dimensions are to be read; "" for nothing.
    rule
        The name of the rule that tells results and MACs; "" where none does.
    dims, macs
        What axes are called, and the MACs computed from their sizes; None where that is not told.
    per_element, per_operand
        Other operations for each element of the first result, and of the first operand.
    multiplies_either
        Whether either operand of its product may be the weight, but only one.
    is_quantized
        Whether quantized operands mean (element - zero point) · scale.
    scale_axes
        By role the axis that is fixed for scales that differ.
    body
        How graphs inside correspond to it; None where it runs none.
    older
        Versions of its operator set, ascending, and what it was before each.
    """

    domain: str
    op_type: str
    is_known: bool = False
    is_registered: bool = False
    form: str = ""
    activation: str = ""
    operands: RoleList = RoleList()
    results: RoleList = RoleList()
    traits: frozenset[str] = frozenset()
    family: str = ""
    weight_kind: WeightKind | Literal[""] = ""
    weight_layout: Layout = ""
    rule: str = ""
    dims: NamedDims | None = None
    macs: Formula | None = None
    per_element: int = 0
    per_operand: int = 0
    multiplies_either: bool = False
    is_quantized: bool = False
    scale_axes: Mapping[str, int] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    older: tuple[tuple[int, Operator], ...] = ()

    def has(self, *traits: str) -> bool:
        """Return whether it has any of some traits."""
        return not self.traits.isdisjoint(traits)

    def at(self, version: int | None) -> Operator:
        """Return what it is under a version of its operator set; None is the newest."""
        if version is not None:
            for limit, older in self.older:
                if version < limit:
                    return older
        return self

    @property
    def weight_places(self) -> tuple[int, ...]:
        """The operands that may be the weight, the likeliest first."""
        return _find_weight_places(self) if self.weight_kind else ()

    def arranges(self, place: int) -> bool:
        """Return whether an operand tells sizes, places or axes."""
        role = self.operands.at(place)
        return "." not in role and kind_of(role) in ARRANGING_ROLES


def find_operator(domain: str, op_type: str, version: int | None = None) -> Operator:
    """Return what is known of an operator.

    Parameters
    ----------
    domain
        The operator's domain, as nodes have it: ``""`` for ``ai.onnx``.
    op_type
        The operator's name.
    version
        The version of the operator set that holds; None for the newest.

    Returns
    -------
    Operator
        One of which nothing is known but its name, where the catalogue does not have it.
    """
    return find_newest_operator(domain, op_type).at(version)


def list_known_operators(domain: str) -> tuple[str, ...]:
    """Return the op_types of a domain that the catalogue has, sorted."""
    return tuple(sorted({*read_shipped().get(domain, ()), *REGISTERED.get(domain, ())}))


@kept_with_catalogue(maxsize=1)
def list_known_domains() -> frozenset[str]:
    """Return the domains of which the catalogue has operators."""
    return frozenset({*read_shipped(), *REGISTERED})


@kept_with_catalogue(maxsize=1 << 12)
def _find_weight_places(operator: Operator) -> tuple[int, ...]:
    roles = ("rows",) if operator.weight_kind == "embedding" else WEIGHT_ROLES
    places = (operator.operands.find(role) for role in roles)
    found = [place for place in places if place is not None]
    return tuple(found[: 2 if operator.multiplies_either else 1])


@kept_with_catalogue(maxsize=1 << 16)
def find_newest_operator(domain: str, op_type: str) -> Operator:
    """Return what is known of an operator in its newest version, as `find_operator` does."""
    if domain not in read_shipped():
        PLUGINS.load()
    entry = complete_entry(domain, op_type)
    if entry is None:
        return Operator(domain, op_type, form=name_form(domain, op_type))
    changes = {int(version): changed for version, changed in entry.get("before", {}).items()}
    older = tuple(
        (version, _build(domain, op_type, {**entry, **changes[version]}))
        for version in sorted(changes)
    )
    return _build(domain, op_type, entry, older)


def _build(
    domain: str,
    op_type: str,
    entry: Mapping[str, Any],
    older: tuple[tuple[int, Operator], ...] = (),
) -> Operator:
    words: list[Any] = [*entry.get("weight", "").split(), "", ""]
    operands = _read_roles(entry.get("operands", ""))
    dims, macs = entry.get("dims"), entry.get("macs")
    return Operator(
        domain,
        op_type,
        is_known=True,
        is_registered=is_registered(domain, op_type),
        form=entry.get("form_of") or name_form(domain, op_type),
        activation=entry.get("activation", ""),
        operands=operands,
        results=_read_roles(entry.get("results", "")),
        traits=frozenset(entry.get("traits", "").split()),
        family=entry.get("family", ""),
        weight_kind=words[0],
        weight_layout=words[1],
        rule=entry.get("rule", ""),
        dims=None if dims is None else parse_dims(dims),
        macs=None if macs is None else parse_formula(str(macs)),
        per_element=entry.get("per_element", 0),
        per_operand=entry.get("per_operand", 0),
        multiplies_either=any(kind_of(role) == "factor" for role in operands.names),
        is_quantized=entry.get("quantized") == "linear",
        scale_axes=entry.get("scale_axes", {}),
        body=entry.get("body"),
        older=older,
    )


def _read_roles(text: str) -> RoleList:
    words = text.split()
    names = tuple(word.rstrip("*") for word in words)
    return RoleList(names, sum(word[-1] == "*" for word in words))
