"""How classes look in the reference: most are given by functions, and not made by who reads it.

Of such a class the signature is left out, and what its docstring lists as parameters stands there
as its attributes.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

#: what who reads the reference makes itself
MADE_BY_USERS = ("Column", "Paint")
_UNDERLINE = re.compile(r"^-{3,}$")


def leave_out_signature(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str, returned: str
) -> tuple[str, str] | None:
    """Return no signature for a class that nobody makes."""
    if what == "class" and obj.__name__ not in MADE_BY_USERS:
        return "", ""
    return None


def list_attributes(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Turn the parameters in the docstring of such a class into attributes, each with its type."""
    if what != "class" or obj.__name__ in MADE_BY_USERS:
        return
    for title in ("Parameters", "Attributes"):
        begin = find_section(lines, title)
        if begin is None:
            continue
        end = find_end(lines, begin)
        told: list[str] = []
        for names, text in split_entries(lines[begin + 2 : end]):
            for each in names:
                if title == "Attributes" or is_attribute(obj, each):
                    told += [*write_attribute(obj, each), *text, ""]
        lines[begin:end] = told


def write_attribute(kind: type, name: str) -> Iterator[str]:
    """Yield the lines that introduce an attribute; its text, which is indented, follows."""
    yield f".. attribute:: {name}"
    for base in kind.__mro__:
        annotation = vars(base).get("__annotations__", {}).get(name)
        if annotation is not None:
            text = (
                annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
            )
            yield f"    :type: {text}"
            break
    yield ""


def skip_fields(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out the fields of a named tuple, which its docstring lists."""
    return True if inspect.isdatadescriptor(obj) and type(obj).__name__ == "_tuplegetter" else None


def find_section(lines: list[str], title: str) -> int | None:
    """Return the line at which a section of a numpy docstring begins."""
    for number, (line, below) in enumerate(pairwise(lines)):
        if line == title and _UNDERLINE.match(below):
            return number
    return None


def find_end(lines: list[str], begin: int) -> int:
    """Return the line behind a section: where the next one begins, or the end."""
    for number in range(begin + 2, len(lines) - 1):
        if lines[number] and _UNDERLINE.match(lines[number + 1]):
            return number
    return len(lines)


def split_entries(lines: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Give the names and the text of each entry of a section."""
    names: list[str] = []
    text: list[str] = []
    for line in lines:
        if line and not line[0].isspace():
            if names:
                yield names, text
            names, text = [each.strip().lstrip("*") for each in line.split(",")], []
        else:
            text.append(line)
    if names:
        yield names, text


def is_attribute(kind: type, name: str) -> bool:
    """Return whether objects have an attribute that is documented nowhere else."""
    if dataclasses.is_dataclass(kind):
        return name in {each.name for each in dataclasses.fields(kind)}
    if name in getattr(kind, "_fields", ()):
        return True
    member = inspect.getattr_static(kind, name, None)
    return inspect.ismemberdescriptor(member) and not any(
        isinstance(slots := vars(base).get("__slots__"), dict) and slots.get(name)
        for base in kind.__mro__
    )
