"""Elements of a model for names from elsewhere: of a profile, a table, notes, another tool."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.lookup import find_tree
from netloupe.explorer.model import Graph, Model, Node, Value
from netloupe.explorer.model.paths import find_element
from netloupe.explorer.progress import step

#: by what an element was found, in the order in which that is tried
NameKey = Literal["path", "node name", "output", "tensor", "group", "normalised"]
Named = Graph | Node | Value | Group

#: of a name that several elements have so many paths are told
_MOST_TOLD = 5
#: signs that other tools have where a name has another
_SEPARATORS = str.maketrans({".": "/", ":": "/", "\\": "/", "|": "/"})


@dataclass(frozen=True, slots=True)
class NamedElement:
    """What a name from elsewhere leads to.

    Parameters
    ----------
    name
        The name as it was given.
    element
        What it names; a value for the name of a tensor.
    key
        By what: ``"path"``, ``"node name"``, ``"output"`` (the name of what a node gives or the
        graph takes), ``"tensor"`` (that of a stored one), ``"group"`` (the path of a group of the
        main graph, or the only one that ends so), or ``"normalised"`` (any of these but for upper
        and lower case and the signs between words).
    """

    name: str
    element: Named
    key: NameKey

    @property
    def path(self) -> str:
        """The path of the element."""
        return self.element.path


@dataclass
class NameMatching:
    """What of some names is in a model.

    Parameters
    ----------
    found
        By name what it leads to, in the order of the names.
    missing
        Names of nothing.
    ambiguous
        By name the paths of the first of several elements that have it: none was chosen.
    """

    found: dict[str, NamedElement] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    ambiguous: dict[str, tuple[str, ...]] = field(default_factory=dict)


def match_names(model: Model, names: Iterable[str]) -> NameMatching:
    """Find the elements of a model that names from elsewhere mean.

    Parameters
    ----------
    model
        Where to look.
    names
        Paths, names of nodes, of what they give, of weights, of modules; each is taken once.

    Returns
    -------
    NameMatching
        A name is placed only where it means one element: one that several have stays without,
        and so do names that are the same once they are normalised.

    Notes
    -----
    Keys are tried one after the other: the exact path, the name of a node, of what a node gives or
    the graph takes, of a stored tensor, a group of the main graph, and last all of them without
    regard to case and to the signs between words. All graphs of the model are looked at.
    """
    return _NameMatcher(model).run([*dict.fromkeys(names)])


class _NameMatcher:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.result = NameMatching()

    def run(self, names: list[str]) -> NameMatching:
        step("matching names")
        result, left = self.result, names
        found: dict[str, NamedElement] = {}
        several: dict[str, list[Named]] = {}
        left = self._find_paths(left, found)
        keys: tuple[tuple[NameKey, Callable[[], Iterator[tuple[str, Named]]]], ...] = (
            ("node name", self._list_nodes),
            ("output", self._list_results),
            ("tensor", self._list_tensors),
        )
        for key, listed in keys:
            left = self._take(key, left, listed, found, several)
        left = self._find_groups(left, found)
        left = self._find_normalised(left, found, several)
        for name in names:
            if name in found:
                result.found[name] = found[name]
            elif name in several:
                told = [element.path for element in several[name][:_MOST_TOLD]]
                result.ambiguous[name] = tuple(told)
            else:
                result.missing.append(name)
        return result

    def _find_paths(self, names: list[str], found: dict[str, NamedElement]) -> list[str]:
        left = []
        for name in names:
            element = find_element(self.model, name)
            if element is None:
                left.append(name)
            else:
                found[name] = NamedElement(name, element, "path")
        return left

    def _take(
        self,
        key: NameKey,
        names: list[str],
        listed: Callable[[], Iterator[tuple[str, Named]]],
        found: dict[str, NamedElement],
        several: dict[str, list[Named]],
    ) -> list[str]:
        """Place the names that one element alone has; return those that no element has."""
        if not names:
            return []
        wanted = set(names)
        having = _collect(wanted, listed(), lambda text: text)
        left = []
        for name in names:
            elements = having.get(name, [])
            if len(elements) == 1:
                found[name] = NamedElement(name, elements[0], key)
                several.pop(name, None)
            else:
                left.append(name)
                if elements:
                    several.setdefault(name, elements)
        return left

    def _find_groups(self, names: list[str], found: dict[str, NamedElement]) -> list[str]:
        if not names:
            return []
        tree, left = find_tree(self.model, self.model.graph), []
        for name in names:
            group = (
                tree.find(name) or tree.find(f"{name.rstrip('/')}/") if name.strip("/") else None
            )
            if group is None:
                left.append(name)
            else:
                found[name] = NamedElement(name, group, "group")
        return left

    def _find_normalised(
        self,
        names: list[str],
        found: dict[str, NamedElement],
        several: dict[str, list[Named]],
    ) -> list[str]:
        """Place names that are an element's but for how they are written."""
        asked: dict[str, list[str]] = {}
        for name in names:
            if name not in several and normalise_name(name):
                asked.setdefault(normalise_name(name), []).append(name)
        if not asked:
            return names
        placed: set[str] = set()
        for listed in (self._list_nodes, self._list_results, self._list_tensors, self._list_groups):
            having = _collect({*asked}, listed(), normalise_name)
            for text, elements in having.items():
                for name in asked[text]:
                    if name in placed:
                        continue
                    if len(elements) == 1 and len(asked[text]) == 1:
                        found[name] = NamedElement(name, elements[0], "normalised")
                        several.pop(name, None)
                        placed.add(name)
                    else:
                        several.setdefault(name, elements)
        return [name for name in names if name not in placed]

    # what has names

    def _list_nodes(self) -> Iterator[tuple[str, Named]]:
        return ((n.name, n) for graph in self.model.graphs for n in graph.nodes if n.name)

    def _list_results(self) -> Iterator[tuple[str, Named]]:
        for graph in self.model.graphs:
            for value in graph.values.values():
                if value.initializer is None:
                    yield value.name, value

    def _list_tensors(self) -> Iterator[tuple[str, Named]]:
        for graph in self.model.graphs:
            for value in graph.values.values():
                if value.initializer is not None:
                    yield value.name, value

    def _list_groups(self) -> Iterator[tuple[str, Named]]:
        tree = find_tree(self.model, self.model.graph)
        begin = tree.root.path
        groups: Iterable[tuple[str, Named]] = (*tree.groups.items(), *tree.singles.items())
        return ((path.removeprefix(begin), group) for path, group in groups)


def _collect(
    wanted: set[str],
    listed: Iterator[tuple[str, Named]],
    write: Callable[[str], Hashable],
) -> dict[str, list[Named]]:
    """Return the elements that have the names that are wanted."""
    having: dict[str, list[Named]] = {}
    for name, element in listed:
        text = write(name)
        if text in wanted:
            assert isinstance(text, str)  # noqa: S101 - it is among those wanted
            elements = having.setdefault(text, [])
            if element not in elements[:_MOST_TOLD]:
                elements.append(element)
    return having


def normalise_name(name: str) -> str:
    """Return a name without what differs between tools: case, and the signs between words."""
    text = name.removeprefix("onnx::").removesuffix(":0")
    return text.translate(_SEPARATORS).strip("/").casefold()
