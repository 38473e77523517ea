"""What to show of a model and how: options as users give them, and as they are checked.

Which there are, their defaults and choices come from :mod:`netloupe.explorer.options`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, get_args

from netloupe.explorer.errors import ViewError
from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Graph, Node, SparseTensor, Tensor, Value
from netloupe.explorer.options import (
    OPTIONS,
    Background,
    Details,
    Direction,
    Expand,
    Grouping,
    PageName,
    Share,
    ThemeName,
    Wrap,
    check_option,
)

#: what may be in focus, beside a path or a name
FocusElement = Node | Value | Graph | Tensor | SparseTensor | Group

#: of which classes the elements are that an option takes in place of a path
_ELEMENTS: dict[str, tuple[type, ...]] = {"focus": get_args(FocusElement), "graph": (Graph,)}

_DEFAULTS: dict[str, Any] = {option.name: option.default for option in OPTIONS.values()}


class ViewKeywords(TypedDict, total=False):
    """The options of a view by keyword, as ``docs/view_options.md`` describes them.

    None stands for the default. A function that hands them on is typed
    ``**view: Unpack[ViewKeywords]``.
    """

    graph: str | Graph | None
    expand: Expand | None
    focus: str | FocusElement | None
    hops: int | None
    direction: Direction | None
    theme: ThemeName | None
    background: Background | None
    grouping: Grouping | None
    details: Details | None
    inset: str | None
    share: Share | None
    wrap: Wrap | None
    fit: str | tuple[int, int] | None
    page: PageName | None
    scale: float | None
    title: str | None
    legend: bool | None
    key: bool | None
    controls: bool | None
    font: str | None
    unnamed: str | Sequence[str] | None


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """The options of a view, checked; paths stand for the elements that were given.

    Their names, defaults and values are those of ``docs/view_options.md``.
    """

    graph: str = _DEFAULTS["graph"]
    expand: Expand = _DEFAULTS["expand"]
    focus: str = _DEFAULTS["focus"]
    hops: int = _DEFAULTS["hops"]
    direction: Direction = _DEFAULTS["direction"]
    theme: ThemeName = _DEFAULTS["theme"]
    background: Background = _DEFAULTS["background"]
    grouping: Grouping = _DEFAULTS["grouping"]
    details: Details = _DEFAULTS["details"]
    inset: str = _DEFAULTS["inset"]
    share: Share = _DEFAULTS["share"]
    wrap: Wrap = _DEFAULTS["wrap"]
    fit: str = _DEFAULTS["fit"]
    page: PageName = _DEFAULTS["page"]
    scale: float = _DEFAULTS["scale"]
    title: str = _DEFAULTS["title"]
    legend: bool = _DEFAULTS["legend"]
    key: bool = _DEFAULTS["key"]
    controls: bool = _DEFAULTS["controls"]
    font: str = _DEFAULTS["font"]
    unnamed: str = _DEFAULTS["unnamed"]

    @property
    def window(self) -> tuple[int, int]:
        """Width and height of the window that the picture is meant for, in pixels."""
        width, height = self.fit.split("x")
        return int(width), int(height)

    @property
    def canvas_share(self) -> Share:
        """Whose share of the model bars show in the explorer."""
        return "parameters" if self.share == "auto" else self.share

    @property
    def unnamed_blocks(self) -> tuple[str, ...]:
        """Groups and kinds of block that are not told what they are, each once."""
        found = (text.strip() for text in self.unnamed.split(","))
        return tuple(dict.fromkeys(text for text in found if text))

    @classmethod
    def parse(cls, options: Mapping[str, object]) -> ViewOptions:
        """Check options given by keyword, as for :class:`ViewKeywords`.

        Raises
        ------
        ViewError
            For an unknown option, or a value outside its choices.
        """
        for name in options:
            if name not in OPTIONS:
                raise ViewError(f"there is no option {name!r}. Choose among {', '.join(OPTIONS)}.")
        found = cls(**{name: _check(name, v) for name, v in options.items() if v is not None})
        if found.background == "white" and found.theme == "dark":
            raise ViewError(
                "a white ground is of the light theme. Leave the dark theme out, or choose a "
                "transparent ground."
            )
        return found


def _check(name: str, value: Any) -> Any:
    """Return a value of an option; of an element its path."""
    if name not in _ELEMENTS:
        return check_option(name, value)
    if isinstance(value, str):
        return value
    if isinstance(value, _ELEMENTS[name]):
        return str(value.path)  # type: ignore[attr-defined]
    words = ", ".join(kind.__name__ for kind in _ELEMENTS[name])
    raise ViewError(f"{name} is a {type(value).__name__}. Give a path, or one of: {words}.")
