"""Entries from outside: read from a file or given as a mapping, checked, and let hold."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from netloupe.explorer.errors import OperatorsError

from .entries import (
    Entry,
    complete_entry,
    find_base,
    find_entry,
    is_registered,
    is_shipped,
    read_shipped,
)
from .entry_checks import MEMBERS, check_entry, check_members_together, tell_unknown
from .registry import REGISTERED, set_entries
from .vocabulary import DOMAIN_NAMES

_LARGEST = 2**24
_MOST_FORMS = 20
#: problems that the message of an error tells
_MOST_TOLD = 5
_DOMAINS = {name: domain for domain, name in DOMAIN_NAMES.items()}

#: domain and op_type
Name: TypeAlias = "tuple[str, str]"
Find: TypeAlias = "Callable[[str, str], Entry | None]"


def read_operator_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a file of operators holds: TOML, or JSON where its name ends in ``.json``.

    Raises
    ------
    OperatorsError
        Where it cannot be read.
    """
    import tomllib

    file = Path(os.fsdecode(path))
    try:
        if file.exists() and not file.is_file():
            raise ValueError("it is no file")
        if file.stat().st_size > _LARGEST:
            raise ValueError("it is too large")
        text = file.read_text("utf-8-sig")
        if file.suffix.lower() == ".json":
            found = json.loads(text, object_pairs_hook=_refuse_twice)
        else:
            found = tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        reason = " ".join((getattr(error, "strerror", None) or str(error)).split())
        raise make_error(
            [f"{file}: cannot be read: {reason}. Give a file of operators in TOML or JSON."]
        ) from error
    if not isinstance(found, dict):
        raise make_error([f"{file}: holds no table. Give entries by domain and op_type."])
    return found


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(f"{name[:60]!r} stands twice in it")
            seen.add(name)
    return found


def make_error(problems: list[str]) -> OperatorsError:
    """Return the error for some problems, each a line, of which it tells the first."""
    problems = [" ".join(problem.split()) for problem in problems]
    shown = problems[:_MOST_TOLD]
    if len(problems) > len(shown):
        shown.append(f"… and {len(problems) - len(shown)} more")
    error = OperatorsError("\n".join(shown))
    error.problems = tuple(problems)
    return error


def accept_entries(given: Mapping[str, Any], source: str, *, replaces: bool = True) -> list[str]:
    """Let entries hold, as far as they are right, and return what is wrong with the others.

    Parameters
    ----------
    given
        Entries by domain and op_type.
    source
        What to call them in messages: the name of the file.
    replaces
        Whether they hold in place of those that were registered for the same operators before.
    """
    problems: list[str] = []
    entries: dict[Name, Entry] = {}
    for name, entry, wrong in _list_entries(given):
        if not wrong and (replaces or not is_registered(*name)):
            entries[name] = entry
        problems += [f"{source}: {write_name(*name)}: {problem}" for problem in wrong]
    while True:  # what is refused may be what others are forms of
        refused = {name: wrong for name in entries if (wrong := _check_together(name, entries))}
        for name, wrong in refused.items():
            problems += [f"{source}: {write_name(*name)}: {problem}" for problem in wrong]
            del entries[name]
        if not refused:
            break
    by_domain: dict[str, dict[str, Entry]] = {}
    for (domain, op_type), entry in entries.items():
        by_domain.setdefault(domain, {})[op_type] = entry
    for domain, accepted in by_domain.items():
        set_entries(domain, accepted)
    return [" ".join(problem.split()) for problem in problems]


def write_name(domain: str, op_type: str) -> str:
    """Return an operator's name for messages: ``com.example::Scale``."""
    parts = (part[:80] for part in (DOMAIN_NAMES.get(domain, domain), op_type) if part)
    return "::".join(part if part.isprintable() else ascii(part)[1:-1] for part in parts)


def _list_entries(given: Mapping[str, Any]) -> Iterator[tuple[Name, Entry, list[str]]]:
    """Yield the name of each operator, its entry, and what is wrong with it by itself."""
    for domain, entries in given.items():
        if not isinstance(domain, str):
            yield (str(domain), ""), {}, ["is no domain. Give entries by domain and op_type."]
        elif not isinstance(entries, Mapping):
            yield (domain, ""), {}, ["is no table. Give entries by op_type."]
        elif _is_split(entries):
            whole = write_name(f"{domain}.{next(iter(entries))}", "")
            what = "has tables in its entries. Give the domain as one name, in TOML in quotes:"
            yield (domain, ""), {}, [f'{what} ["{whole}".OpType].']
        else:
            for op_type, entry in entries.items():
                yield from _list_entry(_DOMAINS.get(domain, domain), op_type, entry)


def _is_split(entries: Mapping[Any, Any]) -> bool:
    """Return whether a domain was taken apart at its points: [com.example.Scale]."""
    return bool(entries) and all(
        isinstance(entry, Mapping)
        and bool(entry)
        and all(name not in MEMBERS and isinstance(held, Mapping) for name, held in entry.items())
        for entry in entries.values()
    )


def _list_entry(
    domain: str, op_type: object, entry: object
) -> Iterator[tuple[Name, Entry, list[str]]]:
    if not isinstance(op_type, str) or not op_type:
        yield (domain, str(op_type)), {}, ["is no name of an operator. Give a text."]
    elif is_shipped(domain, op_type):
        what = "is known to netloupe, and what it is cannot be changed"
        yield (domain, op_type), {}, [f"{what}. Give operators of your own domain."]
    else:
        wrong = [*check_entry(entry)]
        yield (domain, op_type), {} if wrong else _copy(entry), wrong


def _copy(entry: Any) -> Any:
    if not isinstance(entry, Mapping):
        return entry
    return {name: _copy(value) for name, value in entry.items()}


def _check_together(name: Name, entries: Mapping[Name, Entry]) -> list[str]:
    """Return what is wrong with an entry beside all others."""

    def find(domain: str, op_type: str) -> Entry | None:
        entry = entries.get((domain, op_type))
        return find_entry(domain, op_type) if entry is None else entry

    problem = _check_forms(name, find)
    if problem:
        return [problem]
    own = entries[name]
    entry = complete_entry(*name, find) or {}
    problems = [*check_members_together(entry, own)]
    for version, changed in own.get("before", {}).items():
        older = check_members_together({**entry, **changed}, {**own, **changed})
        problems += [f"before {version}: {told}" for told in older if told not in problems]
    activation = own.get("activation", "")
    if activation and not activation.endswith(":") and not _is_activation(activation, name, find):
        known = [each for each in read_shipped()[""] if _is_activation(each, ("", ""), find)]
        problems.append(f"activation {tell_unknown(activation, known, 'Activations')}")
    return problems


def _is_activation(op_type: str, name: Name, find: Find) -> bool:
    domains = (name[0], *read_shipped())
    found = (complete_entry(domain, op_type, find) or {} for domain in domains)
    return any("activates" in entry.get("traits", "").split() for entry in found)


def _check_forms(name: Name, find: Find) -> str:
    """Return what is wrong with what an operator is a form of; "" where nothing is."""
    passed = [name]
    while True:
        domain, op_type = passed[-1]
        entry = find(domain, op_type) or {}
        base = entry.get("form_of")
        if base is None:
            return ""
        origin = find_base(domain, op_type, base, find)
        if find(*origin) is None:
            known = [*read_shipped()[""], *REGISTERED.get(domain, ())]
            owner = "" if len(passed) == 1 else f" by {write_name(domain, op_type)}"
            return f"form_of{owner} {tell_unknown(base, known, 'Operators of ai.onnx')}"
        if origin in passed:
            way = ", ".join(write_name(each, "") for _, each in (*passed, origin))
            return f"form_of goes round in a circle: {way}. Leave it out of one of them."
        passed.append(origin)
        if len(passed) > _MOST_FORMS:
            return f"form_of leads over more than {_MOST_FORMS} forms. Name the last of them."
