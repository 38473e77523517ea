"""All that is said of one graph of a model, as lines that can be compared with those of another."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

import netloupe
from netloupe.explorer.describe import describe_element, format_text
from netloupe.explorer.grouping import Group, find_tree
from netloupe.explorer.layout import Composer
from netloupe.explorer.model import Graph, Model, Node, Value
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.roles.roles import find_roles
from netloupe.explorer.view import Item, View, expand_view

#: what all of the model has is more where there is more around
_SHARE = re.compile(r" *\([^(]* % of the model\)")
_COLUMNS = ("parameters", "macs", "bytes", "intensity", "dtype")
_WORDS = ("MatMul", "Conv", "block", "attention", "float", "norm")


def tell(
    model: Model, graph: Graph, but: frozenset[str] = frozenset(), *, draw: bool = False
) -> dict[str, list[str]]:
    """Return by subject all that is said of a graph's nodes and groups, and not of some nodes.

    Parameters
    ----------
    model, graph
        The model and one of its graphs.
    but
        The names of nodes that nothing is asked of.
    draw
        Whether the places of boxes are told, too, which takes Graphviz.
    """
    nodes = [node for node in graph.nodes if node.name not in but]
    tree = find_tree(model, graph)
    groups = [] if but else [*dict.fromkeys(tree.groups.values())]
    values = [value for node in nodes for value in node.outputs if value is not None]
    hidden = frozenset(node.path for node in graph.nodes if node.name in but)
    view = View(model)
    expand_view(view, "all")
    return {
        "groups": [*_list_groups(tree.root, 0, but)],
        "labels": [f"{n.path} {tree.node_labels.get(graph.index_of(n), '')}" for n in nodes],
        "roles": [f"{node.path} {find_roles(graph).of(node)}" for node in nodes],
        "descriptions": [*_describe(model, [*nodes, *groups, *values])],
        "findings": [*_list_findings(model, graph, hidden)],
        "overlays": [*_list_numbers(model, [each.path for each in (*nodes, *groups)])],
        "search": [*_list_hits(model, graph, hidden)],
        "view": [*_list_items(view, graph, but)],
        "boxes": [*_list_boxes(view, graph)] if draw else [],
    }


def tell_costs(model: Model, graph: Graph) -> list[str]:
    """Return what a graph costs and holds."""
    measured = [netloupe.overlay(model, name).measure(graph.path) for name in _COLUMNS]
    return [
        *(f"{one.value} {one.known} {one.count}" for one in measured),
        format_text(describe_element(model, graph)),
    ]


def _list_groups(child: Group | Node, depth: int, but: frozenset[str]) -> Iterator[str]:
    indent = "  " * depth
    if isinstance(child, Node):
        if child.name not in but:
            yield f"{indent}{child.path}"
        return
    known = child.recognised
    told = (known.name, known.facts, [n.path for n in known.nodes]) if known is not None else None
    main = child.main.path if child.main is not None else ""
    yield f"{indent}{child.kind} {child.path} {child.label} {child.type_name} {main} {told}"
    for inner in child.children:
        yield from _list_groups(inner, depth + 1, but)


def _describe(model: Model, elements: Iterable[Node | Group | Value]) -> Iterator[str]:
    for element in elements:
        for line in format_text(describe_element(model, element)).splitlines():
            yield f"{element.path}: {_SHARE.sub('', line)}"


def _list_findings(model: Model, graph: Graph, hidden: frozenset[str]) -> Iterator[str]:
    audited = netloupe.audit(model)
    for finding in (*netloupe.check(model).findings, *audited.defects):
        paths = [*_choose_paths(finding.paths, graph, hidden)]
        if paths:
            yield f"{finding.id} {finding.severity} {paths} {finding.message}"
    for island in audited.islands:
        if island.paths[0].startswith(f"{graph.path}/"):
            yield repr(island)
    yield from map(repr, audited.weights)
    yield from (f"{w.path} {w.message}" for w in graph.warnings if w.path not in hidden)


def _choose_paths(paths: Iterable[str], graph: Graph, hidden: frozenset[str]) -> Iterator[str]:
    """Yield those of some paths that are in a graph, and not inside of hidden nodes."""
    for path in paths:
        if path.startswith(f"{graph.path}/") and not any(map(path.startswith, hidden)):
            yield path


def _list_numbers(model: Model, paths: list[str]) -> Iterator[str]:
    for column in _COLUMNS:
        overlay = netloupe.overlay(model, column)
        for path in paths:
            measured = overlay.measure(path)
            yield f"{column} {path} {measured.value} {measured.in_set}"


def _list_hits(model: Model, graph: Graph, hidden: frozenset[str]) -> Iterator[str]:
    for word in _WORDS:
        for path in _choose_paths(model.search(word), graph, hidden):
            yield f"{word}: {path}"


def _list_items(view: View, graph: Graph, but: frozenset[str]) -> Iterator[str]:
    for item in view.open_items():
        body = item.body or item.instance
        if body.graph is not graph:
            continue
        names = [child.key for child in item.children]
        for child in item.children:
            element = child.element
            if isinstance(element, Node) and element.name in but:
                continue
            rows = [f"{row.index} {row.text} {row.path} {row.is_shape}" for row in child.constants]
            ends = [[value.path for value in ends] for ends in (child.inputs, child.outputs)]
            yield f"{child.kind} {child.key} {child.label} {child.openable} {rows} {ends}"
        for link in view.links(item):
            ends = ["border" if at < 0 else names[at] for at in (link.source, link.target)]
            if not but.isdisjoint(end.rpartition("/")[2] for end in ends):
                continue
            yield f"{item.key}: {ends} {link.value.path} {link.kind} {link.count}"


def _list_boxes(view: View, graph: Graph) -> Iterator[str]:
    labels = Labels()
    scene = Composer().compose(view, labels)
    home = next(
        box for box in scene.boxes if box.item.body is not None and box.item.body.graph is graph
    )
    for box in scene.boxes:
        item: Item = box.item
        if item.instance.graph is graph:
            place = (box.x - home.x, box.y - home.y, box.width, box.height)
            yield f"{item.key} {[round(number, 2) for number in place]}"


def tell_difference(left: Model, right: Model) -> list[str]:
    """Return the entries of the difference of two models."""
    found = netloupe.diff(left, right)
    return [
        f"{entry.topic} {entry.level} {entry.count} {entry.operators} {entry.changes}"
        f" {[g.path for g in entry.groups]}"
        f" {[[n.path for n in (*p.left, *p.right)] for p in entry.pairs]}"
        f" {[n.path for n in (*entry.left_nodes, *entry.right_nodes)]}"
        for entry in found.entries
    ]


def find_graph(model: Model, wanted: Callable[[Graph], bool]) -> Graph:
    """Return the one graph of a model that is wanted."""
    (found,) = (graph for graph in model.graphs if wanted(graph))
    return found


def compare_told(
    first: Mapping[str, list[str]], other: Mapping[str, list[str]]
) -> dict[str, list[str]]:
    """Return by subject the lines that only one of two tellings has."""
    found = {}
    for subject, lines in first.items():
        known, there = {*lines}, {*other[subject]}
        differing = [f"- {line}" for line in lines if line not in there]
        differing += [f"+ {line}" for line in other[subject] if line not in known]
        if not differing and lines != other[subject]:
            differing = ["the order"]
        if differing:
            found[subject] = differing
    return found
