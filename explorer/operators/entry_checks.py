"""What is wrong with an entry for an operator that somebody wants to register."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

from .entries import Entry
from .formulas import (
    ALLOWED,
    LEADING,
    FormulaError,
    list_names,
    parse_dims,
    parse_formula,
)
from .vocabulary import (
    LAYOUTS,
    OPERATOR_FAMILIES,
    PARTS,
    ROLES,
    TRAITS,
    WEIGHT_KINDS,
    WEIGHT_ROLES,
    kind_of,
)

_MOST_TEXT = 4000
#: so many words are listed where one of them is meant; of more the nearest
_MOST_LISTED = 17
_MOST_AXIS = 64
_MOST_PER_ELEMENT = 2**31
_MOST_VERSION = 2**31


def check_entry(entry: object) -> Iterator[str]:
    """Yield what is wrong with an entry by itself, each in one line that says what is allowed."""
    if not isinstance(entry, Mapping):
        yield f"is {_write(entry)}. Give a table of members: {', '.join(MEMBERS)}."
        return
    yield from _check_members(entry, MEMBERS)


def _check_members(entry: Entry, members: Collection[str]) -> Iterator[str]:
    for name, value in entry.items():
        if name not in members:
            yield f"has no member {_write(name)}. {_suggest(name, members, 'Members')}"
            continue
        yield from (f"{name} {problem}" for problem in MEMBERS[name](value))


def _check_roles(value: object) -> Iterator[str]:
    words = yield from _read_words(value, "roles with spaces between: data weight bias")
    names = [word.rstrip("*") for word in words]
    for word, role in zip(words, names, strict=True):
        owner, point, part = role.partition(".")
        kind = kind_of(role)
        if kind not in ROLES or word not in (role, f"{role}*"):
            yield f"names the role {_write(word)}, which is none. {_suggest(kind, ROLES, 'Roles')}"
        elif point and part not in PARTS:
            yield (
                f"has {_write(role)}, but nothing has a {_write(part)}. "
                f"{_suggest(part, PARTS, 'Parts')}"
            )
        elif point and owner != "result" and owner not in names:
            yield f"has {_write(role)}, but no {_write(owner)}. Name what it belongs to as well."
    stars = [word.endswith("*") for word in words]
    if any(one and not next_one for one, next_one in pairwise(stars)):
        yield (
            "has a star before a role without one. Only the last roles may have stars: "
            "data* stands for all further operands."
        )


def _check_traits(value: object) -> Iterator[str]:
    words = yield from _read_words(value, "traits with spaces between: convolves quantized_weight")
    for word in words:
        if word not in TRAITS:
            yield f"names {_write(word)}, which is no trait. {_suggest(word, TRAITS, 'Traits')}"


def _check_name(value: object) -> Iterator[str]:
    if not isinstance(value, str) or not value or len(value) > _MOST_TEXT:
        yield f"is {_write(value)}. Give the name of an operator, of this domain or of ai.onnx."


def _check_activation(value: object) -> Iterator[str]:
    wanted = "Give the name of an activation, Relu, or that of an attribute, activation:"
    if not isinstance(value, str) or not value.strip(":") or len(value) > _MOST_TEXT:
        yield f"is {_write(value)}. {wanted}."


def _check_family(value: object) -> Iterator[str]:
    if not isinstance(value, str) or value not in OPERATOR_FAMILIES:
        yield f"is {_write(value)}. {_suggest(value, OPERATOR_FAMILIES, 'Families')}"


def _check_weight(value: object) -> Iterator[str]:
    words = yield from _read_words(value, "a kind and perhaps a layout: convolution conv")
    if words and words[0] not in WEIGHT_KINDS:
        yield f"begins with {_write(words[0])}. {_suggest(words[0], WEIGHT_KINDS, 'Kinds')}"
    if len(words) > 1 and words[1] not in LAYOUTS:
        yield f"has the layout {_write(words[1])}. {_suggest(words[1], LAYOUTS, 'Layouts')}"
    if len(words) > 2:
        yield "has more than two words. Give a kind and perhaps a layout: convolution conv."


def _check_quantized(value: object) -> Iterator[str]:
    if value != "linear":
        yield f"is {_write(value)}. Give linear, or leave it out."


def _check_scale_axes(value: object) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"is {_write(value)}. Give axes by role: {{weight = 0}}."
        return
    for role, axis in value.items():
        if not isinstance(role, str) or not _is_number(axis, -_MOST_AXIS, _MOST_AXIS):
            yield f"has {_write(role)} = {_write(axis)}. Give axes by role: {{weight = 0}}."


def _check_count(value: object) -> Iterator[str]:
    if not _is_number(value, 0, _MOST_PER_ELEMENT):
        yield f"is {_write(value)}. Give a whole number from 0."


def _check_dims(value: object) -> Iterator[str]:
    example = "Write names of axes, commas between operands: N K, M K -> N M."
    if not isinstance(value, str):
        yield f"is {_write(value)}. {example}"
        return
    try:
        parse_dims(value)
    except FormulaError as error:
        yield f"{error}. {example}"


def _check_macs(value: object) -> Iterator[str]:
    if not isinstance(value, str) and not _is_number(value, 0, 2**53):
        yield f"is {_write(value)}. Give a formula of {ALLOWED}."
        return
    try:
        parse_formula(str(value))
    except FormulaError as error:
        yield f"{error}: {_write(value)}. A formula is made of {ALLOWED}."


def _check_before(value: object) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"is {_write(value)}. Give what differs by version: {{11 = {{operands = …}}}}."
        return
    for version, entry in value.items():
        number = int(version) if isinstance(version, str) and _is_version(version) else 0
        if not 0 < number < _MOST_VERSION:
            yield f"has {_write(version)}. Give versions of the operator set, which are numbers."
        elif not isinstance(entry, Mapping):
            yield f"{version} is {_write(entry)}. Give a table of members."
        else:
            yield from (f"{version}: {problem}" for problem in _check_members(entry, _CHANGING))


def _is_version(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 20


#: what looks for mistakes in a member by itself
MEMBERS: dict[str, Callable[[object], Iterator[str]]] = {
    "operands": _check_roles,
    "results": _check_roles,
    "traits": _check_traits,
    "form_of": _check_name,
    "activation": _check_activation,
    "family": _check_family,
    "weight": _check_weight,
    "dims": _check_dims,
    "macs": _check_macs,
    "per_element": _check_count,
    "per_operand": _check_count,
    "quantized": _check_quantized,
    "scale_axes": _check_scale_axes,
    "before": _check_before,
}
_CHANGING = [name for name in MEMBERS if name not in ("before", "form_of")]


def check_members_together(entry: Entry, own: Entry) -> Iterator[str]:
    """Yield where members of an entry, completed by what it is a form of, contradict one another.

    Parameters
    ----------
    entry
        The entry with what it has from the one that it is a form of.
    own
        What stands in the entry itself.
    """
    roles = [word.rstrip("*") for word in entry.get("operands", "").split()]
    kind = own.get("weight", "").partition(" ")[0]
    wanted = ("rows",) if kind == "embedding" else WEIGHT_ROLES
    if kind and kind != "ml" and not set(roles) & {*wanted}:
        names = "rows" if kind == "embedding" else "weight, factor or rows"
        yield f"weight is {_write(own['weight'])}, but no operand has the role {names}. Name it."
    for role in own.get("scale_axes", ()):
        if role not in roles:
            yield (
                f"scale_axes names {_write(role)}, which no operand is. "
                f"{_suggest(role, roles, 'Operands')}"
            )
    if "macs" not in own and "dims" not in own:
        return
    dims, macs = entry.get("dims"), entry.get("macs")
    named = parse_dims(dims) if dims is not None else None
    known = named.list_names() if named is not None else set()
    for name in dict.fromkeys(list_names(parse_formula(str(macs))) if macs is not None else ()):
        if name not in known:
            what = "leading axes (...)" if name == LEADING else f"the dimension {name!r}"
            yield (
                f"macs names {what}, which dims does not. "
                f"{_suggest(name, sorted(known), 'Dimensions')}"
            )
    for side, names, listed in (
        ("operands", entry.get("operands", ""), named.operands if named is not None else ()),
        ("results", entry.get("results", ""), named.results if named is not None else ()),
    ):
        words = names.split()
        if words and not words[-1].endswith("*") and len(listed) > len(words):
            yield (
                f"dims has {len(listed)} {side}, but {side} names {len(words)}. "
                "Give as many, or fewer."
            )


def tell_unknown(wrong: str, known: Collection[str], what: str) -> str:
    """Return that a word is not among those that are known, and which are."""
    return f"names {_write(wrong)}, which is none. {_suggest(wrong, known, what)}"


def _read_words(value: object, wanted: str) -> Generator[str, None, list[str]]:
    """Return the words of a text; of what is none, yield that it is not."""
    if not isinstance(value, str):
        yield f"is {_write(value)}. Give {wanted}."
        return []
    if len(value) > _MOST_TEXT:
        yield f"is longer than {_MOST_TEXT} characters. Give {wanted}."
        return []
    return value.split()


def _is_number(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _suggest(wrong: object, known: Collection[str], what: str) -> str:
    """Return what is allowed, the nearest word first where one is near."""
    near = get_close_matches(str(wrong)[:60], known, 3) if isinstance(wrong, str) else []
    hint = f"Did you mean {near[0]!r}? " if near else ""
    if not known:
        return f"{hint}There are none."
    if len(known) > _MOST_LISTED:
        return f"{hint}{what} are {', '.join([*known][:3])} …: the documentation lists all."
    return f"{hint}{what} are {', '.join(known)}."


def _write(value: Any) -> str:
    """Return a value in a few characters, as one line."""
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else f"{value[:59]}…")
    if value is None or isinstance(value, bool | float):
        return repr(value)
    if isinstance(value, int):
        return str(value) if value.bit_length() < 64 else "a large number"
    return f"a {type(value).__name__}"
