"""Where code names operators: lists of their names, and comparisons of an op_type with a name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from netloupe.explorer.operators import list_known_domains, list_known_operators

ROOT = Path(__file__).resolve().parents[2]
#: what knows operators by name, for that is its subject
KNOWING = ("operators", "patterns")
_NAMES = frozenset(name for domain in list_known_domains() for name in list_known_operators(domain))


class Naming(NamedTuple):
    """A place in the code that names operators.

    Parameters
    ----------
    place
        The file from ``explorer/`` on, and what the statement defines, or the function it is in:
        ``roles/masks.py _COMPARISONS``.
    line
        Where it is.
    names
        The operators.
    is_comparison
        Whether an op_type is compared with one.
    """

    place: str
    line: int
    names: tuple[str, ...]
    is_comparison: bool


def list_namings(folder: Path = ROOT / "explorer") -> Iterator[Naming]:
    """Yield the places of all modules that name operators, but for the rooms that know them."""
    for path in sorted(folder.rglob("*.py")):
        room = path.relative_to(folder).parts[0]
        if room in KNOWING:
            continue
        yield from _list_of_module(path, path.relative_to(folder).as_posix())


def _list_of_module(path: Path, name: str) -> Iterator[Naming]:
    tree = ast.parse(path.read_text("utf-8"))
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    seen: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.match_case) and _compares_op_type(node, parents):
            names = _list_names(node)
            if names:
                place = f"{name} {_find_owner(node, parents)}"
                yield Naming(place, _find_line(node, parents), names, True)
                seen |= {*ast.walk(node)}
    for node in ast.walk(tree):
        if node in seen or not isinstance(
            node, ast.Constant | ast.Tuple | ast.List | ast.Set | ast.Dict
        ):
            continue
        whole = _find_whole(node, parents)
        if whole in seen:
            continue
        names = _list_names(whole)
        if len(names) > 1:
            seen |= {*ast.walk(whole)}
            yield Naming(f"{name} {_find_owner(whole, parents)}", whole.lineno, names, False)


def _compares_op_type(node: ast.Compare | ast.match_case, parents: dict[ast.AST, ast.AST]) -> bool:
    if isinstance(node, ast.match_case):
        subject = parents[node]
        return isinstance(subject, ast.Match) and "op_type" in ast.unparse(subject.subject)
    return any(
        isinstance(side, ast.Attribute | ast.Name)
        and ast.unparse(side).rpartition(".")[2] == "op_type"
        for side in (node.left, *node.comparators)
    )


def _find_whole(node: ast.expr, parents: dict[ast.AST, ast.AST]) -> ast.expr:
    """Return the largest expression of literals that holds one: all of ``{…} | {…}``."""
    whole = node
    parent = parents.get(whole)
    while isinstance(parent, ast.Tuple | ast.List | ast.Set | ast.Dict | ast.BinOp | ast.Starred):
        whole = parent if isinstance(parent, ast.expr) else whole
        parent = parents.get(parent)
    return whole


def _list_names(node: ast.AST) -> tuple[str, ...]:
    """Return the operators that literals in an expression name, each once."""
    found: dict[str, None] = {}
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            words = each.value.split()
            if words and all(word in _NAMES for word in words):
                found |= dict.fromkeys(words)
    return tuple(found)


def _find_owner(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str:
    """Return what a statement defines, or else the function around it."""
    current: ast.AST | None = node
    while current is not None:
        if isinstance(current, ast.FunctionDef):
            return current.name
        if isinstance(current, ast.Assign | ast.AnnAssign):
            target = current.targets[0] if isinstance(current, ast.Assign) else current.target
            if isinstance(parents.get(current), ast.Module | ast.ClassDef):
                return ast.unparse(target)
        current = parents.get(current)
    return ""


def _find_line(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> int:
    while not hasattr(node, "lineno"):
        node = parents[node]
    return int(node.lineno)


if __name__ == "__main__":
    for naming in list_namings():
        print(f"{naming.place}:{naming.line}", *naming.names)
