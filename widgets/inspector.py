"""The inspector: shows the description of what is selected, with links to what is around it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, get_args

import ipywidgets
import traitlets

from netloupe.explorer.describe import Description, Section
from netloupe.explorer.options import ThemeName
from netloupe.explorer.page.description_html import (
    MOST_LINKS,
    write_error,
    write_header,
    write_pages,
    write_section,
)

from .description_text import DescriptionText
from .tensor_panel import TensorPanel

NavigateHandler = Callable[[str], None]


class Inspector(ipywidgets.VBox):  # type: ignore[misc] # ipywidgets has no types
    """Shows one description at a time.

    Parameters
    ----------
    on_navigate
        Called with the path of a row that is clicked.
    on_source_changed
        Called, perhaps from a thread, where elements cannot be read since their file changed.
    make_head
        Makes what stands above all descriptions.
    is_awaited
        Whether the picture beside it is still to be painted; until :meth:`begin` nothing is opened
        in it.
    **traits
        ``theme``: ``light`` or ``dark``, that of the canvas beside it. Those of
        :class:`ipywidgets.VBox`.

    Raises
    ------
    TypeError
        For a keyword that is no trait.

    Notes
    -----
    Descriptions come and go in the same widgets: a text above the tensor's panel and one below
    it. The panel is opened with the first tensor and kept.
    """

    theme = traitlets.Enum(get_args(ThemeName), "light")

    #: what is closed with it
    _inside: tuple[ipywidgets.DOMWidget, ...] = ()
    _panel: TensorPanel | None = None

    def __init__(
        self,
        on_navigate: NavigateHandler | None = None,
        on_source_changed: Callable[[], None] | None = None,
        *,
        make_head: Callable[[], ipywidgets.DOMWidget] | None = None,
        is_awaited: bool = False,
        **traits: Any,
    ) -> None:
        unknown = [name for name in traits if not self.has_trait(name)]
        if unknown:
            raise TypeError(f"Inspector has no trait {', '.join(map(repr, unknown))}")
        dark = ("nl-inspector-dark",) if traits.get("theme") == "dark" else ()
        super().__init__(_dom_classes=("nl-inspector", *dark), **traits)
        self.on_navigate = on_navigate
        self._on_source_changed = on_source_changed
        self.description: Description | None = None
        #: held by whoever changes what is shown: a thread does so too
        self.lock = threading.RLock()
        self._is_awaited = is_awaited
        self._error = ""
        #: by section, how many of its links are shown
        self._most: dict[int, int] = {}
        self._make_head = make_head
        self._head: tuple[ipywidgets.DOMWidget, ...] = ()
        #: above the tensor's panel, and below it; None until they are opened
        self._above: DescriptionText | None = None
        self._below: DescriptionText | None = None
        if not is_awaited:
            self._open()

    def begin(self) -> None:
        """Open what waited for the picture; called when that is painted."""
        with self.lock:
            if self._is_awaited:
                self._is_awaited = False
                self._open()

    def _open(self) -> None:
        self._head = () if self._make_head is None else (self._make_head(),)
        layout = ipywidgets.Layout(width="auto")
        self._above = DescriptionText(self._navigate, self._show_more, layout=layout)
        self._below = DescriptionText(self._navigate, self._show_more, layout=layout)
        self._inside = (*self._head, self._above, self._below)
        self._write()
        self._arrange_panel()
        self._read_panel()

    def show(self, description: Description) -> None:
        """Show a description in place of the last one."""
        with self.lock:
            self.description = description
            self._error = ""
            self._most.clear()
            is_first = self._panel is None
            if not is_first:  # the last tensor goes before another name stands above it
                self._arrange_panel()
            self._write()
            if is_first:
                self._arrange_panel()
            self._read_panel()

    def renew(self, description: Description) -> None:
        """Show what more is known of what is shown; what was unfolded and the tensor stay."""
        with self.lock:
            shown = self.description
            if shown is None or shown == description:
                return
            if (shown.kind, shown.path, shown.tensor) == (
                description.kind,
                description.path,
                description.tensor,
            ):
                self.description = description
                self._write()

    def show_error(self, message: str) -> None:
        """Show an error above what is shown."""
        with self.lock:
            self._error = write_error(message)
            self._write()

    def close(self) -> None:
        """Close everything in it too."""
        for widget in self._inside:
            widget.close()
        super().close()

    def _write(self) -> None:
        """Write the description: where it has a tensor, all but its first section below that."""
        description, above_it, below_it = self.description, self._above, self._below
        if above_it is None or below_it is None:
            return
        if description is None:
            above_it.html = self._error
            return
        sections = [*enumerate(description.sections)]
        count = len(sections) if description.tensor is None else 1
        above, below = sections[:count], sections[count:]
        above_it.html = self._error + write_header(description) + self._write_sections(above)
        below_it.html = self._write_sections(below)

    def _write_sections(self, sections: Sequence[tuple[int, Section]]) -> str:
        return "".join(
            write_pages(section, number, self._most.get(number, MOST_LINKS))
            if any(row.path for row in section.rows)
            else write_section(section)
            for number, section in sections
        )

    def _show_more(self, number: int) -> None:
        with self.lock:
            self._most[number] = self._most.get(number, MOST_LINKS) + MOST_LINKS
            self._write()

    def _read_panel(self) -> None:
        """Read the tensor of the description, if it has one and its panel is open."""
        description = self.description
        if description is not None and description.tensor is not None and self._panel is not None:
            self._panel.read()

    def _arrange_panel(self) -> None:
        """Show that the description's tensor is to be read, or take the panel away."""
        if self._above is None or self._below is None:
            return
        description = self.description
        shown: list[ipywidgets.Widget] = [self._above, self._below]
        if description is None or description.tensor is None:
            if self._panel is not None:
                self._panel.cancel()
        else:
            if self._panel is None:
                self._panel = TensorPanel(
                    description.tensor,
                    description.value,
                    "dark" if self.theme == "dark" else "light",
                    self._on_source_changed,
                )
                self._inside += (self._panel,)
            else:
                self._panel.expect(description.tensor, description.value)
            shown.insert(1, self._panel)
        self.children = [*self._head, *shown]

    def _navigate(self, path: str) -> None:
        if self.on_navigate is not None:
            self.on_navigate(path)

    @traitlets.observe("theme")
    def _theme_changed(self, change: Any) -> None:
        self._show_theme()
        if self._panel is not None:
            self._panel.set_theme(change.new)

    def _show_theme(self) -> None:
        change = self.add_class if self.theme == "dark" else self.remove_class
        change("nl-inspector-dark")
