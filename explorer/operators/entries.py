"""The entries of the catalogue as they are written, and what a form has from its base."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

from .registry import REGISTERED

Entry: TypeAlias = "Mapping[str, Any]"

#: what a form has from its base where its own entry does not say otherwise
_INHERITED = ("operands", "results", "traits", "family", "weight")
#: what a form that was registered, with the operands of its base, has from it besides
_OF_SAME_OPERANDS = (
    *("rule", "dims", "macs", "per_element", "per_operand", "activation"),
    *("quantized", "scale_axes", "body"),
)
#: members with which an operator is counted in its own way
_OWN_WAY = frozenset({"operands", "dims", "macs"})


def find_entry(domain: str, op_type: str) -> Entry | None:
    """Return the entry of an operator; what netloupe comes with, nobody registers anew."""
    registered = REGISTERED.get(domain, {}).get(op_type)
    return read_shipped().get(domain, {}).get(op_type) if registered is None else registered


def is_registered(domain: str, op_type: str) -> bool:
    """Return whether an operator was registered."""
    return op_type in REGISTERED.get(domain, ())


def is_shipped(domain: str, op_type: str) -> bool:
    """Return whether netloupe's own catalogue has an operator."""
    return op_type in read_shipped().get(domain, ())


def find_base(
    domain: str, op_type: str, base: str, find: Callable[[str, str], Entry | None]
) -> tuple[str, str]:
    """Return the domain and op_type of what an operator is a form of.

    That is one of its own domain or of ``ai.onnx``.
    """
    has_own = base != op_type and find(domain, base) is not None
    return (domain if has_own else ""), base


def complete_entry(
    domain: str, op_type: str, find: Callable[[str, str], Entry | None] = find_entry
) -> Entry | None:
    """Return an entry, with what it has from the one that it is a form of."""
    chain: dict[tuple[str, str], Entry] = {}  # by name each entry and then what it is a form of
    name = domain, op_type
    while name not in chain and (entry := find(*name)) is not None:
        chain[name] = entry
        if "form_of" not in entry:
            break
        name = find_base(*name, entry["form_of"], find)
    inherited: Entry | None = None
    for own, entry in reversed(chain.items()):
        inherited = _inherit(own, entry, inherited or {}, find) if "form_of" in entry else entry
    return inherited


def _inherit(
    own: tuple[str, str],
    entry: Entry,
    inherited: Entry,
    find: Callable[[str, str], Entry | None],
) -> Entry:
    origin, base = find_base(*own, entry["form_of"], find)
    form = inherited.get("form_of", name_form(origin, base))
    taken = {key: inherited[key] for key in _INHERITED if key in inherited}
    if not is_shipped(*own) and _OWN_WAY.isdisjoint(entry):
        taken |= {key: inherited[key] for key in _OF_SAME_OPERANDS if key in inherited}
    return {**taken, **entry, "form_of": form}


def name_form(domain: str, op_type: str) -> str:
    """Return what an operator that is a form of no other is called as a form.

    What a domain of others calls ``Relu`` is no Relu, unless its entry says so.
    """
    return op_type if domain in read_shipped() else f"{domain}::{op_type}"


@cache
def read_shipped() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the entries that netloupe comes with, by domain and op_type."""
    data = pkgutil.get_data(__name__, "catalogue.json")
    if data is None:  # only a loader that cannot read files at all
        raise FileNotFoundError("netloupe was installed without its catalogue of operators")
    entries: dict[str, dict[str, dict[str, Any]]] = json.loads(data)
    return entries
