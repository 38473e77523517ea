"""A view as a :class:`graphviz.Digraph`, for people who go on in the DOT language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloupe.explorer.view import BORDER, Item, View

from .faces import FaceBook
from .text import clean_label

if TYPE_CHECKING:
    import graphviz

_STYLES = {"captured": "dashed", "control": "dotted", "former": "dotted", "newer": "bold"}


def draw_dot(view: View, faces: FaceBook, direction: str = "TB") -> graphviz.Digraph:
    """Return the open groups as clusters, their ports as points, and all boxes and edges.

    Names are numbers, since DOT gives colons in names a meaning; labels and tooltips hold
    what the model says.
    """
    import graphviz

    dot = graphviz.Digraph(
        "netloupe",
        graph_attr={"rankdir": direction, "compound": "true"},
        node_attr={"shape": "box", "style": "rounded", "fontname": "DejaVu Sans", "fontsize": "11"},
        edge_attr={"arrowsize": "0.6", "fontname": "DejaVu Sans", "fontsize": "9"},
    )
    if not any(child.is_open for child in view.root.children):
        dot.graph_attr.update(nslimit="0", nslimit1="0")  # Graphviz crashes on clusters with it
    _Writer(view, faces).write(dot, view.root)
    return dot


class _Writer:
    def __init__(self, view: View, faces: FaceBook) -> None:
        self.view = view
        self.faces = faces
        self.names: dict[tuple[str, str, str], str] = {}

    def write(self, dot: graphviz.Digraph, item: Item) -> None:
        """Add the children of an open item and the edges between them."""
        import graphviz

        for child in item.children:
            if child.is_open:
                face = self.faces.face(child)
                title = " ".join(run.text for run in face.texts)
                with dot.subgraph(name=f"cluster_{len(self.names)}") as cluster:
                    cluster.attr(label=graphviz.escape(title), style="rounded", labeljust="l")
                    self.names[child.key, "", ""] = f"cluster_{len(self.names)}"
                    self._add_ports(cluster, child)
                    self.write(cluster, child)
            else:
                self._add_box(dot, child)
        for link in self.view.links(item):
            if link.source == BORDER:
                tail = self.names[item.key, "in", link.source_value.path]
            else:
                tail = self._end(item.children[link.source], "out", link.source_value.path)
            if link.target == BORDER:
                head = self.names[item.key, "out", link.target_value.path]
            else:
                head = self._end(item.children[link.target], "in", link.target_value.path)
            style = _STYLES.get(link.kind, "solid")
            tooltip = graphviz.escape(clean_label(f"{link.value.name} {link.value.type or ''}"))
            dot.edge(tail, head, style=style, tooltip=tooltip)

    def _add_ports(self, dot: graphviz.Digraph, item: Item) -> None:
        values = {("in", value.path): value for value in item.inputs}
        values.update({("out", value.path): value for value in item.outputs})
        for link in self.view.links(item):
            if link.source == BORDER:
                values["in", link.source_value.path] = link.source_value
            if link.target == BORDER:
                values["out", link.target_value.path] = link.target_value
        for side, path in values:
            name = f"p{len(self.names)}"
            self.names[item.key, side, path] = name
            dot.node(name, label="", shape="circle", width="0.06", fixedsize="true")

    def _add_box(self, dot: graphviz.Digraph, item: Item) -> None:
        import graphviz

        face = self.faces.face(item)
        lines: dict[float, list[str]] = {}
        for run in face.texts:
            lines.setdefault(run.y, []).append(run.text)
        # escaped line by line: the breaks between them are escapes of the DOT language
        texts = [" ".join(parts) for _, parts in sorted(lines.items())] or [face.title]
        label = "\\n".join(map(graphviz.escape, texts))
        name = f"n{len(self.names)}"
        self.names[item.key, "", ""] = name
        tooltip = graphviz.escape(clean_label(item.path))
        dot.node(name, label=graphviz.nohtml(label), tooltip=tooltip)

    def _end(self, item: Item, side: str, path: str) -> str:
        return self.names.get((item.key, side, path)) or self.names[item.key, "", ""]
