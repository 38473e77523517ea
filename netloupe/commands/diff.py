"""``netloupe diff``: what differs, and when that is to end with exit status 1."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from netloupe.explorer.compare import IGNORABLE, Diff, diff, split_pair
from netloupe.explorer.describe.difference_json import encode_diff
from netloupe.explorer.describe.difference_page import format_markdown
from netloupe.explorer.describe.differences import format_diff
from netloupe.explorer.describe.sync_navigation import encode_sync_navigation
from netloupe.explorer.errors import OutputError
from netloupe.explorer.files.output import check_place, write_file
from netloupe.explorer.options import OPTIONS

from .render import read_page_options
from .running import FOUND, load_named, most_entries
from .streams import STANDARD, say, write_standard_output
from .targets import DIFF_FORMATS
from .terminal import TerminalProgress

_KINDS = ("structure", "interface", "weights")


def run_diff(parsed: argparse.Namespace) -> int:
    """Print what differs between two models, or write it into a file."""
    target = _choose_target(parsed)
    with TerminalProgress() as progress:
        progress.step("reading")
        left, right = (load_named(name, None) for name in parsed.models)
        pin, unpin = (
            [split_pair(text, left, right) for text in given]
            for given in (parsed.pin, parsed.unpin)
        )
        found = diff(left, right, ignore=parsed.ignore, pin=pin, unpin=unpin)
        data, notices = _write(found, target.kind, parsed)
        if target.path is not None:
            write_file(target.path, data)
    if target.path is None:
        write_standard_output(data)
    for notice in notices:
        say("note", notice)
    return FOUND if any(each.applies(found) for each in parsed.fail_on) else 0


class _Target(NamedTuple):
    """Where a difference is written, the standard output where ``path`` is None, and as what."""

    path: Path | None
    kind: str


def _choose_target(parsed: argparse.Namespace) -> _Target:
    """Return where to write to; what can be known to be wrong is said before the work begins."""
    asked: str | None = parsed.format
    if parsed.json and (parsed.output or asked):
        raise OutputError("--json prints JSON. Give -o FILE.json instead, or leave --format out.")
    if parsed.output is None:
        if asked not in (None, "json", "txt", "md", "model-explorer"):
            raise OutputError(f"a picture goes to a file. Give -o FILE.{asked}.")
        return _Target(None, "json" if parsed.json else asked or "txt")
    if parsed.output == STANDARD:
        if asked is None:
            raise OutputError(
                f"the standard output needs a format. Give --format {'|'.join(DIFF_FORMATS)}."
            )
        return _Target(None, asked)
    path = Path(parsed.output)
    check_place(path)
    kind = asked or path.suffix[1:].lower()
    if kind not in DIFF_FORMATS:
        raise OutputError(
            f"{path}: the ending does not name a format. Use one of "
            f"{', '.join(f'.{name}' for name in DIFF_FORMATS[:-1])}, or give --format."
        )
    return _Target(path, kind)


def _write(found: Diff, kind: str, parsed: argparse.Namespace) -> tuple[bytes, list[str]]:
    """Return a difference in a format, and notices about it."""
    options = {name: getattr(parsed, name) for name in OPTIONS}
    is_page = kind == "html" and not parsed.static
    if parsed.panes and not is_page:
        raise OutputError("--panes is of the explorer in a .html file. Write one, or leave it out.")
    if parsed.ladder:
        return _write_ladder(found, kind, options, parsed)
    content = read_page_options(parsed, is_page=is_page)
    if kind == "json":
        told = encode_diff(found, most=most_entries(parsed))
        return f"{json.dumps(told, indent=2)}\n".encode(), []
    if kind == "model-explorer":
        return f"{json.dumps(encode_sync_navigation(found))}\n".encode(), []
    if kind == "md":
        return format_markdown(found).encode(), []
    if kind == "txt":
        return f"{format_diff(found)}\n".encode(), []
    if parsed.panes:
        return _write_panes(found, options, content)
    return _draw(found, kind, options, content if is_page else None)


def _write_ladder(
    found: Diff, kind: str, given: dict[str, Any], parsed: argparse.Namespace
) -> tuple[bytes, list[str]]:
    """Return both models as a ladder of blocks, and notices about it."""
    from netloupe.explorer.ladder import LADDER_FORMATS, make_ladder

    if parsed.panes:
        raise OutputError("--ladder and --panes are two pictures. Write one file for each.")
    if kind not in LADDER_FORMATS:
        endings = ", ".join(f".{name}" for name in LADDER_FORMATS)
        raise OutputError(f"--ladder is a still picture. Write one of {endings}, or leave it out.")
    read_page_options(parsed, is_page=False)
    return make_ladder(found, kind, given)


def _write_panes(
    found: Diff, given: dict[str, Any], content: dict[str, Any]
) -> tuple[bytes, list[str]]:
    """Return both models side by side, and notices about them."""
    from netloupe.explorer.layout import shared_engine
    from netloupe.explorer.panes.page import make_panes
    from netloupe.explorer.standalone.content import PageContent
    from netloupe.explorer.view import ViewOptions

    options = ViewOptions.parse(given)
    shared_engine().start()
    return make_panes(
        found, options, PageContent.parse(**content), follows_system=given["theme"] is None
    )


def _draw(
    found: Diff, kind: str, given: dict[str, Any], content: dict[str, Any] | None
) -> tuple[bytes, list[str]]:
    """Return the picture of both models as one, and notices about it."""
    from netloupe.explorer.layout import shared_engine
    from netloupe.explorer.render.differences import paint_differences, title_difference
    from netloupe.explorer.render.picture import make_picture, render_picture, write_dot
    from netloupe.explorer.view import ViewOptions

    if given["title"] is None:
        given["title"] = title_difference(found)
    options = ViewOptions.parse(given)
    if kind == "dot":
        return write_dot(found.merged, options)
    shared_engine().start()
    paints = paint_differences(found, options.grouping)
    if content is not None:
        from netloupe.explorer.standalone.content import PageContent
        from netloupe.explorer.standalone.page import make_page

        return make_page(
            found.merged,
            options,
            paints,
            content=PageContent.parse(**content),
            follows_system=given["theme"] is None,
        )
    picture = make_picture(found.merged, options, paints=paints)
    return render_picture(picture, kind), picture.notices


@dataclass(frozen=True, slots=True)
class FailOn:
    """What a difference has to be for the command to fail.

    Parameters
    ----------
    kind
        ``structure``: more than the numbers in weights differs; ``interface``: inputs or
        outputs are not compatible; ``weights``: stored numbers differ, also those of sparse
        tensors and constants, and of weights of other dimensions.
    most
        By how much the numbers of a weight may differ: the length of the differences (L2) as a
        share of that of the left numbers.
    """

    kind: Literal["structure", "interface", "weights"]
    most: float = 0.0

    def applies(self, found: Diff) -> bool:
        """Return whether a difference is such a one."""
        if self.kind == "structure":
            return found.has_other_structure
        if self.kind == "interface":
            return not found.is_compatible
        return bool(
            found.left_tensors
            or found.right_tensors
            or found.unread
            or found.unjudged
            or found.other_numbers
            or any(one.numbers and not one.numbers.is_within(self.most) for one in found.tensors)
            or any(one.has_other_elements for one in found.tensors)
        )


def read_fail_on(text: str) -> tuple[FailOn, ...]:
    """Return what ``--fail-on`` says: ``structure``, ``interface``, ``weights`` or ``weights:N``.

    Raises
    ------
    argparse.ArgumentTypeError
        For anything else.
    """
    words = [word.strip() for word in text.split(",")]
    return tuple(map(_read_fail_on, [word for word in words if word] or [text]))


def _read_fail_on(text: str) -> FailOn:
    kind, colon, number = text.partition(":")
    if kind in _KINDS and (not colon or kind == "weights"):
        try:
            most = float(number) if colon else 0.0
        except ValueError:
            most = -1.0
        if 0 <= most < math.inf:
            return FailOn(kind, most)  # type: ignore[arg-type]
    raise argparse.ArgumentTypeError(f"{text[:60]!r} is none of {', '.join(_KINDS)}, weights:1e-3")


def read_ignored(text: str) -> tuple[str, ...]:
    """Return the words of ``--ignore``.

    Raises
    ------
    argparse.ArgumentTypeError
        For a word that cannot be ignored.
    """
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    for word in words:
        if word not in IGNORABLE:
            raise argparse.ArgumentTypeError(f"{word[:60]!r} is none of {', '.join(IGNORABLE)}")
    return words
