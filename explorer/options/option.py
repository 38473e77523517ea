"""One option of a view, the table of all of them, and the check of a value."""

from __future__ import annotations

import json
import re
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

from netloupe.explorer.errors import ViewError

#: longer texts are no number that anybody means, and slow to read as one
_MOST_DIGITS = 18
_DECIMAL = re.compile(r"\d+(\.\d*)?|\.\d+", re.ASCII)


class Choice(NamedTuple):
    """One of the values that an option may have.

    Parameters
    ----------
    word
        What it is called on the command line.
    value
        What it is in Python.
    meaning
        What it does, in a few words.
    menu
        Its entry in the canvas's menu; "" where it has none.
    """

    word: str
    value: str | bool
    meaning: str
    menu: str = ""


class Number(NamedTuple):
    """The numbers that an option may have.

    Parameters
    ----------
    name
        What stands for it in the command line's help.
    unit
        What is counted, in the plural.
    least, most
        The smallest and the largest; None for no largest.
    is_whole
        Whether only whole numbers are meant.
    """

    name: str
    unit: str
    least: float
    most: float | None = None
    is_whole: bool = True

    def read(self, given: object) -> int | float | None:
        """Return the one that is given, as a number or as its digits; None for anything else."""
        if isinstance(given, str) and len(given) <= _MOST_DIGITS:
            given = self._read_text(given)
        if not isinstance(given, Real) or isinstance(given, bool):
            return None
        if self.is_whole and not isinstance(given, Integral):
            return None
        number = int(given) if isinstance(given, Integral) and self.is_whole else float(given)
        fits = self.least <= number and (self.most is None or number <= self.most)
        return number if fits else None

    def _read_text(self, text: str) -> int | float | None:
        if text.isdecimal():
            return int(text)
        return float(text) if not self.is_whole and _DECIMAL.fullmatch(text) else None

    def __str__(self) -> str:
        if not self.is_whole:
            return f"number of {self.unit} from {self.least:g} to {self.most:g}"
        if self.most is None:
            return f"number of {self.unit}, {self.least} or more"
        return f"number of {self.unit} from {self.least} to {self.most}"


class Text(NamedTuple):
    """The texts that an option may have.

    Parameters
    ----------
    name
        What stands for it in the command line's help.
    meaning
        What it is, with its article.
    pattern
        A regular expression that it matches; "" for any text.
    least, most
        Where it is width and height: the smallest and the largest number of pixels.
    is_list
        Whether it is a list, with commas between; it may be given as several texts too.
    """

    name: str
    meaning: str
    pattern: str = ""
    least: int = 0
    most: int = 0
    is_list: bool = False

    def read(self, given: object) -> str | None:
        """Return the text that is given; None for anything else.

        Width and height may be given as two numbers too, and a list as such.
        """
        if self.is_list and isinstance(given, tuple | list):
            if not all(isinstance(text, str) for text in given):
                return None
            given = ",".join(given)
        if self.most and isinstance(given, tuple | list) and len(given) == 2:
            given = "x".join(str(side) for side in given)
        if not isinstance(given, str):
            return None
        given = str(given)
        if self.pattern and not re.fullmatch(self.pattern, given):
            return None
        if self.most:
            sides = [int(side) for side in given.split("x")]
            return given if all(self.least <= side <= self.most for side in sides) else None
        return given

    def __str__(self) -> str:
        bounds = f", each from {self.least:,} to {self.most:,}" if self.most else ""
        return f"{self.meaning}{bounds}"


class Option(NamedTuple):
    """An option of a view.

    Parameters
    ----------
    name
        Its name as a keyword.
    default
        Its value in Python where none is given.
    help
        What it does, in a line; ``{focus}`` stands for the name of the option ``focus``.
    details
        What more there is to say, in sentences; "" for nothing.
    choices
        The values that have names.
    number
        The numbers that it takes; None where it takes none.
    text
        The texts that it takes; None where it takes none but choices.
    elements
        Where it takes a path or a name: the classes of the elements that stand for theirs.
    """

    name: str
    default: str | float
    help: str
    details: str = ""
    choices: tuple[Choice, ...] = ()
    number: Number | None = None
    text: Text | None = None
    elements: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """What it is called on the command line."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def is_switch(self) -> bool:
        """Whether it is only on or off."""
        return {choice.value for choice in self.choices} == {True, False} and self.number is None

    @property
    def words(self) -> tuple[str, ...]:
        """What its choices are called on the command line."""
        return tuple(choice.word for choice in self.choices)


def _read_options(file: str) -> dict[str, Option]:
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    return {name: _read_option(name, **fields) for name, fields in json.loads(text).items()}


def _read_option(
    name: str,
    *,
    choices: dict[str, dict[str, Any]] | None = None,
    number: dict[str, Any] | None = None,
    text: dict[str, Any] | None = None,
    elements: tuple[str, ...] = (),
    **fields: Any,
) -> Option:
    return Option(
        name,
        **fields,
        choices=tuple(
            Choice(word, **{"value": word, **choice}) for word, choice in (choices or {}).items()
        ),
        number=Number(**number) if number else None,
        text=Text(**text) if text else None,
        elements=tuple(elements),
    )


#: by name
OPTIONS = _read_options("options.json")
#: those of the explorer in a page alone, by name
PAGE_OPTIONS = _read_options("page_options.json")


def check_option(name: str, value: Any) -> Any:
    """Return a value of an option that takes choices, numbers or texts.

    Raises
    ------
    ViewError
        Where it is none of them.
    """
    option = OPTIONS[name] if name in OPTIONS else PAGE_OPTIONS[name]
    for choice in option.choices:
        if isinstance(value, type(choice.value)) and value == choice.value:
            return value
    if option.text is not None:
        text = option.text.read(value)
        if text is not None:
            return text
        raise ViewError(f"{name} is {value!r}. Give {option.text}.")
    number = option.number
    if number is None:
        raise ViewError(f"{name} {value!r} is unknown. Choose {_join(option.choices)}.")
    read = number.read(value)
    if read is not None:
        return read
    raise ViewError(f"{name} is {value!r}. Give {_join(option.choices, f'a {number}')}.")


def _join(choices: tuple[Choice, ...], *others: str) -> str:
    *words, last = [*(str(choice.value) for choice in choices), *others]
    return f"{', '.join(words)} or {last}" if words else last
