"""What public functions say of arguments of the wrong type: by name, and what is taken instead."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import os
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

from .errors import ArgumentError, NetloupeError

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)

#: entries of a container that are looked at, and characters of a value that a message tells
_MOST_ENTRIES = 100
_MOST_CHARACTERS = 60
_PACKAGE = __name__.partition(".")[0]


def explain_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function that fails for an argument's type say so, as its annotations have it.

    Nothing is looked at before it fails. What it raises on purpose stays as it is, and so does
    every error where all arguments are of the types that it takes.

    Raises
    ------
    ArgumentError
        Where the function raised something and an argument is of a type that it does not take.
    """

    @functools.wraps(function)
    def explained(*given: P.args, **named: P.kwargs) -> R:
        try:
            return function(*given, **named)
        except NetloupeError:
            raise
        except Exception as error:
            mistake = find_mistake(function, given, named)
            if mistake is None:
                raise
            raise ArgumentError(mistake) from error

    return explained


def explain_methods(*, leaving: Iterable[str] = ()) -> Callable[[C], C]:
    """Do the same for the public methods that a class defines.

    Parameters
    ----------
    leaving
        Names of methods that explain themselves, as those that are called for each node.
    """
    left = frozenset(leaving)

    def decorate(decorated: C) -> C:
        for name, found in list(vars(decorated).items()):
            if not inspect.isfunction(found) or name.startswith("_") or name in left:
                continue
            if len(inspect.signature(found).parameters) > 1:
                setattr(decorated, name, explain_arguments(found))
        return decorated

    return decorate


def find_mistake(
    function: Callable[..., Any], given: tuple[Any, ...], named: Mapping[str, Any]
) -> str | None:
    """Return in words which argument is of a type that a function does not take, if one is."""
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*given, **named)
    except TypeError:  # one too many or too few, which Python tells itself
        return None
    for name, value in bound.arguments.items():
        parameter = signature.parameters[name]
        if name == "self" or parameter.kind is parameter.VAR_KEYWORD:
            continue
        hint = resolve_hint(function, name)
        values = value if parameter.kind is parameter.VAR_POSITIONAL else (value,)
        for each in values:
            if not fits(each, hint):
                return (
                    f"{function.__qualname__}: {name} is {_write(each)}. "
                    f"Give {describe_hint(parameter.annotation)}."
                )
    return None


def resolve_hint(function: Callable[..., Any], name: str) -> Any:
    """Return the type of a parameter; Any where a name in it is not known or has two meanings."""
    parameter = inspect.signature(function).parameters[name]
    holder = types.SimpleNamespace(__annotations__={name: parameter.annotation})
    known = getattr(inspect.unwrap(function), "__globals__", {})
    try:
        return typing.get_type_hints(holder, known, _LoadedNames())[name]
    except (NameError, AttributeError, TypeError):
        return Any


class _LoadedNames(dict[str, Any]):
    """What a name that a module imports for annotations only stands for, where it is loaded."""

    def __missing__(self, name: str) -> Any:
        if name in vars(collections.abc):
            return getattr(collections.abc, name)
        if name in vars(typing):
            return getattr(typing, name)
        if name == "PathLike":
            return os.PathLike
        found: list[Any] = []
        for module_name, module in list(sys.modules.items()):
            if module_name.startswith(f"{_PACKAGE}.") and name in vars(module):
                value = vars(module)[name]
                if not any(value is other for other in found):
                    found.append(value)
        if len(found) != 1:
            raise KeyError(name)
        return found[0]


def fits(value: object, hint: Any) -> bool:
    """Return whether a value is of a type; what cannot be told is taken to be.

    Parameters
    ----------
    value
        Of a container the first hundred entries are looked at, of an iterator none.
    hint
        A type as annotations have it, resolved.
    """
    if hint is Any or isinstance(hint, TypeVar | str | typing.ForwardRef):
        return True
    if hint is None or hint is types.NoneType:
        return value is None
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, each) for each in inner)
    if origin is typing.Literal:
        return any(type(value) is type(each) and value == each for each in inner)
    if origin is typing.Annotated:
        return fits(value, inner[0])
    expected = origin or hint
    if not isinstance(expected, type):
        return True
    if getattr(expected, "_is_protocol", False):
        return all(hasattr(value, name) for name in typing.get_type_hints(expected))
    if expected is float:
        return isinstance(value, int | float)
    if not isinstance(value, expected):
        return False
    if isinstance(value, Mapping) and len(inner) == 2:
        entries = _first(value.items())
        return all(fits(key, inner[0]) and fits(entry, inner[1]) for key, entry in entries)
    if expected is tuple and inner and Ellipsis not in inner:
        held = typing.cast(tuple[Any, ...], value)
        return len(held) == len(inner) and all(map(fits, held, inner))
    if isinstance(value, collections.abc.Collection):
        return not inner or all(fits(entry, inner[0]) for entry in _first(value))
    return True


def _first(values: Iterable[Any]) -> list[Any]:
    return [entry for entry, _ in zip(values, range(_MOST_ENTRIES), strict=False)]


def describe_hint(annotation: object) -> str:
    """Return a type in words, as a signature writes it: ``str, PathLike[str] or None``."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    parts = [part.strip() for part in _split_union(text)]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"


def _split_union(text: str) -> list[str]:
    parts, depth = [""], 0
    for character in text:
        depth += (character in "[(") - (character in "])")
        if character == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _write(value: object) -> str:
    """Return a value with its type: ``5, an int``; of one without brief text the type alone."""
    name = type(value).__name__
    article = "an" if name[:1].lower() in "aeiou" else "a"
    if value is None:
        return "None"
    if type(value) in (int, float, bool, str, bytes, tuple, list, dict, set):
        text = repr(value)
        if len(text) <= _MOST_CHARACTERS:
            return f"{text}, {article} {name}"
    return f"{article} {name}"
