"""The inspector: shows the description of what is selected, with links to what is around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets
import traitlets

from netloupe.explorer.describe import Description, Row, Section

from .description_html import (
    read_style,
    write_error,
    write_header,
    write_section,
    write_table,
    write_title,
)
from .link_list import LinkList
from .tensor_panel import TensorPanel

#: rows that can be clicked; each is a widget of its own, the rest are text
MOST_LINKS = 30

NavigateHandler = Callable[[str], None]


class Inspector(ipywidgets.VBox):  # type: ignore[misc] # ipywidgets has no types
    """Shows one description at a time.

    Parameters
    ----------
    on_navigate
        Called with the path of a row that is clicked.
    **traits
        ``theme``: ``light`` or ``dark``, for the histogram; everything else follows the
        colours of the page. Those of :class:`ipywidgets.VBox`.

    Raises
    ------
    TypeError
        For a keyword that is no trait.
    """

    theme = traitlets.Enum(("light", "dark"), "light")

    _panel: TensorPanel | None = None

    def __init__(self, on_navigate: NavigateHandler | None = None, **traits: Any) -> None:
        unknown = [name for name in traits if not self.has_trait(name)]
        if unknown:
            raise TypeError(f"Inspector has no trait {', '.join(map(repr, unknown))}")
        super().__init__(**traits)
        self.on_navigate = on_navigate
        self.description: Description | None = None
        # shared, since every layout and style is an object of its own in the browser
        self._layout = ipywidgets.Layout(width="auto")
        self._link_style = ipywidgets.ButtonStyle()
        self._text_style = ipywidgets.HTML().style
        self._style = self._make_text(read_style())
        self._message = self._make_text("")
        self.add_class("nl-inspector")
        if self.layout.overflow is None:
            self.layout.overflow = "hidden auto"
        self._shown: tuple[ipywidgets.Widget, ...] = ()
        self._replace(())

    def show(self, description: Description) -> None:
        """Show a description in place of the last one."""
        self.description = description
        self._message.value = ""
        parts: list[ipywidgets.Widget] = [self._make_text(write_header(description))]
        self._panel = None
        links = MOST_LINKS
        pending: list[str] = []
        for section in self._order(description):
            if section is None:
                self._flush(pending, parts)
                parts.append(self._panel)
            elif description.kind == "values":  # each of them can be followed
                parts.append(self._make_text(write_title(section)))
                parts.append(LinkList(section.rows, self._make_row, layout=self._layout))
            elif links and any(row.path for row in section.rows):
                self._flush(pending, parts)
                links -= self._add_links(section, links, parts)
            else:
                pending.append(write_section(section))
        self._flush(pending, parts)
        self._replace(tuple(parts))

    def show_error(self, message: str) -> None:
        """Show an error above what is shown."""
        self._message.value = write_error(message)

    def _order(self, description: Description) -> list[Section | None]:
        """Return the sections, with None where the tensor's panel stands: after the first."""
        sections: list[Section | None] = list(description.sections)
        if description.tensor is not None:
            self._panel = TensorPanel(
                description.tensor, description.value, "dark" if self.theme == "dark" else "light"
            )
            sections.insert(1, None)
        return sections

    def _add_links(self, section: Section, most: int, parts: list[ipywidgets.Widget]) -> int:
        """Add a section whose rows can be clicked; return how many of them there are."""
        parts.append(self._make_text(write_title(section)))
        count = 0
        text: list[Row] = []
        for row in section.rows:
            if row.path and count < most:
                self._flush([write_table(text)] if text else [], parts)
                text = []
                parts.append(self._make_link(row))
                count += 1
            else:
                text.append(row)
        self._flush([write_table(text)] if text else [], parts)
        return count

    def _make_row(self, row: Row) -> ipywidgets.Widget:
        return self._make_link(row) if row.path else self._make_text(write_table([row]))

    def _make_link(self, row: Row) -> ipywidgets.Button:
        # no-break spaces: a long value is broken inside rather than moved to the next line
        head = f"{row.name}\u00a0\u00a0\u00a0{row.value}" if row.name else row.value
        button = ipywidgets.Button(
            description=f"{head}\n{row.note}" if row.note else head,
            tooltip=row.path[:1_000],
            layout=self._layout,
            style=self._link_style,
        )
        button.add_class("nl-inspector-link")
        button.on_click(lambda _button, path=row.path: self._navigate(path))
        return button

    def _make_text(self, html: str) -> ipywidgets.HTML:
        return ipywidgets.HTML(html, layout=self._layout, style=self._text_style)

    def _flush(self, pending: list[str], parts: list[ipywidgets.Widget]) -> None:
        """Add the HTML that has gathered as one widget."""
        if pending:
            parts.append(self._make_text("".join(pending)))
            pending.clear()

    def _navigate(self, path: str) -> None:
        if self.on_navigate is not None:
            self.on_navigate(path)

    def _replace(self, parts: tuple[ipywidgets.Widget, ...]) -> None:
        """Show other widgets, and close the last ones so that the page forgets them."""
        last, self._shown = self._shown, parts
        self.children = (self._style, self._message, *parts)
        for widget in last:
            widget.close()

    @traitlets.observe("theme")
    def _theme_changed(self, change: Any) -> None:
        if self._panel is not None:
            self._panel.set_theme(change.new)
