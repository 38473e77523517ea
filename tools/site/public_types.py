"""The types of the public API: what ``netloupe.__all__`` lists, and what these lead to.

A type is reached where a parameter, a result, a property, a field or a base of a public thing
names it. Annotations are read as text, so that nothing needs to be imported for types alone; no
two modules of netloupe define the same public name, so that a name is enough.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Container, Iterator
from functools import cached_property
from importlib import import_module
from types import ModuleType

import netloupe

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


def list_modules() -> list[ModuleType]:
    """Return all modules of netloupe but those of generated code and of the command line."""
    found = []
    for each in pkgutil.walk_packages(netloupe.__path__, "netloupe."):
        parts = each.name.split(".")
        if not {"proto", "commands", "__main__"} & set(parts):
            found.append(import_module(each.name))
    return found


def list_classes() -> dict[str, type]:
    """Return the classes of netloupe by name, but for those that begin with an underscore."""
    return {
        name: value
        for module in list_modules()
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__ and name[0] != "_"
    }


def list_members(kind: type) -> Iterator[tuple[str, object]]:
    """Give the public members of a class that netloupe defines, with functions unwrapped."""
    given = set()
    for base in kind.__mro__:
        if not base.__module__.startswith("netloupe"):
            continue
        for name, value in vars(base).items():
            if name.startswith("_") or name in given:
                continue
            given.add(name)
            yield name, unwrap(value)


def unwrap(member: object) -> object:
    """Return the function behind a property, a class method or a static method."""
    if isinstance(member, property):
        return member.fget
    if isinstance(member, classmethod | staticmethod):
        return member.__func__
    if isinstance(member, cached_property):
        return member.func
    return member


def list_annotations(thing: object) -> Iterator[tuple[str, str]]:
    """Give the annotations of a function, or of a class and its public members, as text."""
    if inspect.isfunction(thing):
        for annotation in thing.__annotations__.values():
            yield thing.__qualname__, str(annotation)
    elif inspect.isclass(thing):
        for base in thing.__mro__:
            if base.__module__.startswith("netloupe"):
                for name, annotation in vars(base).get("__annotations__", {}).items():
                    if not name.startswith("_"):
                        yield f"{thing.__name__}.{name}", str(annotation)
        for name, member in list_members(thing):
            if inspect.isfunction(member):
                for annotation in member.__annotations__.values():
                    yield f"{thing.__name__}.{name}", str(annotation)


def find_public_types(inner: Container[str] = ()) -> dict[str, str]:
    """Return the name of each public class, with what leads to it ("" for the listed ones).

    Parameters
    ----------
    inner
        Names of classes that are not for users: what these lead to is not looked at.
    """
    classes = list_classes()
    things = [getattr(netloupe, name) for name in netloupe.__all__]
    found = {thing.__name__: "" for thing in things if inspect.isclass(thing)}
    waiting = list(things)
    while waiting:
        for place, annotation in list_annotations(waiting.pop()):
            for name in _NAME.findall(annotation):
                if name in classes and name not in found:
                    found[name] = place
                    if name not in inner:
                        waiting.append(classes[name])
    return found
