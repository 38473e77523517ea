"""The words of ``netloupe render`` that stand for options of a view, quoted for a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from .option import OPTIONS, Option

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def write_command(source: str, output: str, values: Mapping[str, Any], init: str = "") -> str:
    """Return the command that draws a model, as it is typed into a shell.

    Parameters
    ----------
    source
        The model's file.
    output
        The picture's file.
    values
        Of options by name; those that are as they are without being given are left out.
    init
        The init net of a Caffe2 net; "" where it is looked for beside the model.
    """
    words = ["netloupe", "render", _name_file(source), "-o", _name_file(output)]
    words += ["--init", _name_file(init)] if init else []
    return " ".join(map(quote, words + write_options(values)))


def write_options(values: Mapping[str, Any]) -> list[str]:
    """Return the words of options, by name; none of those that are as they are without them."""
    return [
        word
        for name, option in OPTIONS.items()
        if name in values and values[name] != option.default
        for word in _write_option(option, values[name])
    ]


def _write_option(option: Option, value: Any) -> Iterator[str]:
    """Yield the words of an option."""
    if option.is_switch:
        yield f"--{option.name}" if value else f"--no-{option.name}"
        return
    named = [choice.word for choice in option.choices if _is_same(choice.value, value)]
    text = named[0] if named else f"{value:g}" if isinstance(value, float) else str(value)
    if text.startswith("-"):
        yield f"--{option.name}={text}"  # else it is taken for an option
    else:
        yield f"--{option.name}"
        yield text


def _is_same(one: object, other: object) -> bool:
    """Return whether two values are one: True is not the number 1."""
    return type(one) is type(other) and one == other


def _name_file(name: str) -> str:
    return f"./{name}" if name.startswith("-") else name


def quote(word: str) -> str:
    """Return a word of a command as bash and zsh read it.

    A terminal takes control characters that are pasted for keys, within quotes too: each is
    written as an escape.
    """
    if not _CONTROL.search(word):
        return shlex.quote(word)
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{_CONTROL.sub(_escape, escaped)}'"


def _escape(found: re.Match[str]) -> str:
    # of four digits, so that none that follows is taken for a part of it
    return f"\\u{ord(found[0]):04x}"
