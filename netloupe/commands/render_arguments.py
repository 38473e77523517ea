"""The words of ``netloupe render``."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from netloupe.explorer.files.output import FORMATS
from netloupe.explorer.options import OPTIONS, PAGE_OPTIONS, Option

from .shared_arguments import (
    MODEL,
    add_color_by,
    add_init,
    add_twin,
    complete_names,
    read_file_name,
)

_RENDER_EXAMPLES = """examples:
  netloupe render model.onnx -o model.svg
  netloupe render model.onnx -o model.html        the explorer in one file
  netloupe render model.onnx -o m.html --review   with what check finds beside it
  netloupe render model.onnx -o m.html --weights none --size-limit 2MB
  netloupe render model.onnx -o layer3.pdf --focus encoder/layer.3 --hops 1
  netloupe render model.onnx -o m.svg --color-by macs
  netloupe render model.onnx -o m.html --color-by profile.json --color-by errors.csv:max_error
  netloupe render model.onnx -o m.pdf --hide dropout --rename h.0="Block" --save-figure figure.toml
  netloupe render new.onnx -o m.pdf --figure figure.toml
  netloupe render model.onnx -o - --format png | icat
  netloupe render a.onnx b.onnx -o pictures/ --format svg"""


def add_render(commands: Any) -> None:
    """Add the command, its options and its help to the commands of a parser."""
    render: argparse.ArgumentParser = commands.add_parser(
        "render",
        help="draw models into files",
        description="Draw models as vector graphics, a page or a picture.",
        epilog=_RENDER_EXAMPLES,
    )
    render.add_argument("models", metavar="MODEL", type=read_file_name, nargs="+", help=MODEL)
    add_init(render)
    render.add_argument(
        *("-o", "--output"),
        required=True,
        metavar="FILE",
        type=read_file_name,
        help="a .svg, .html, .pdf, .png or .dot; with --format also a folder, "
        "or - for the standard output",
    )
    render.add_argument(
        "--format", choices=FORMATS, help="the format (default: what the name of FILE ends in)"
    )
    add_view_options(render)
    add_color_by(render)
    _add_figure(render)
    add_twin(render)
    render.add_argument(
        "--review",
        action="store_true",
        help="of .html: a tab that lists what check, audit and notes say, with marks",
    )
    render.add_argument("--show", action="store_true", help="open the file when it is written")
    render.set_defaults(run=_run)


def _add_figure(command: argparse._ActionsContainer) -> None:
    """Add what is changed for one figure."""
    hide = command.add_argument(
        "--hide",
        action="append",
        metavar="QUERY|PATH",
        help="leave out the boxes of this path or title, or all that find finds; "
        "what leads to them leads past them; may be given several times",
    )
    hide.completer = complete_names  # type: ignore[attr-defined] # argcomplete's way
    command.add_argument(
        "--rename",
        action="append",
        metavar="PATH=TEXT",
        help="write this text on the box of a path or title; may be given several times",
    )
    command.add_argument(
        "--highlight",
        action="append",
        metavar="PATH=COLOUR",
        help="colour the box of a path or title: as a category such as attention, or #rrggbb; "
        "may be given several times",
    )
    command.add_argument(
        "--figure",
        metavar="FILE",
        type=read_file_name,
        help="hide, rename and highlight what a file says that --save-figure has written",
    )
    command.add_argument(
        "--save-figure",
        metavar="FILE",
        type=read_file_name,
        help="write what is hidden, renamed and highlighted into a file, such as figure.toml",
    )


def add_view_options(command: argparse._ActionsContainer) -> None:
    """Add what says how a picture is made, and what the explorer in a page holds."""
    for option in OPTIONS.values():
        _add_view_option(command, option)
    command.add_argument(
        "--static",
        action="store_true",
        help="of .html: the still picture without a script, not the explorer",
    )
    for option in PAGE_OPTIONS.values():
        _add_view_option(command, option)


def _add_view_option(command: argparse._ActionsContainer, option: Option) -> None:
    """Add an option of a view; where it is not given it is parsed as None."""
    settings: dict[str, Any] = {"help": _explain(option)}
    if option.is_switch:
        command.add_argument(option.flag, **settings, action=argparse.BooleanOptionalAction)
        return
    if option.text is not None:
        settings["metavar"] = "|".join([*option.words, option.text.name])
        settings["type"] = partial(_text, option)
    elif option.number is not None:
        settings["metavar"] = "|".join([*option.words, option.number.name])
        settings["type"] = partial(_choice_or_number, option)
    elif option.choices:
        settings["choices"] = option.words
    else:
        settings["metavar"] = "PATH"
    added = command.add_argument(option.flag, **settings)
    if option.elements:
        added.completer = complete_names  # type: ignore[attr-defined] # argcomplete's way


def _explain(option: Option) -> str:
    """Return what an option does, and its default where it has one."""
    text = option.help.format_map({name: f"--{name}" for name in OPTIONS})
    if option.default == "" or option.is_switch:
        return text
    return f"{text} (default: {_write_default(option)})"


def _write_default(option: Option) -> str:
    return f"{option.default:g}" if isinstance(option.default, float) else str(option.default)


def _text(option: Option, text: str) -> str:
    """Return a text that an option takes."""
    read = option.text.read(text) if option.text is not None else None
    if read is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not {option.text}")
    return read


def _choice_or_number(option: Option, text: str) -> str | bool | float:
    """Return the value that a word, or a number, stands for."""
    for choice in option.choices:
        if text == choice.word:
            return choice.value
    number = option.number.read(text) if option.number is not None else None
    if number is not None:
        return number
    wanted = f"none of {', '.join(option.words)} and a" if option.words else "no"
    raise argparse.ArgumentTypeError(f"{text!r} is {wanted} {option.number}")


def _run(parsed: argparse.Namespace) -> int:
    from .render import run_render

    return run_render(parsed)
