"""The command line: info, inspect, render, open."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from netloupe.explorer.errors import NetloupeError, OutputError
from netloupe.explorer.terminal import TerminalProgress

#: as grouping.GROUPINGS, which would load more than a call for help needs
_GROUPINGS = ("auto", "names", "modules", "repeats", "none")

_EPILOG = "Exit status: 0 fine, 2 with one line on the standard error for anything to be mended."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    parser = _make_parser()
    parsed = parser.parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names need not fit the terminal
    try:
        status: int = parsed.run(parsed)
        sys.stdout.flush()
    except NetloupeError as error:
        return _fail(str(error))
    except BrokenPipeError:
        # the reader has seen enough, as `| head` does; keep the interpreter's exit silent
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if os.environ.get("NETLOUPE_DEBUG"):
            raise
        return _fail(
            f"{getattr(parsed, 'model', '')}: internal error ({type(error).__name__}: {error}). "
            "Set NETLOUPE_DEBUG=1 for the traceback and report it."
        )
    return status


def _fail(message: str) -> int:
    line = " ".join(message.split())
    print(f"netloupe: error: {line}", file=sys.stderr)
    return 2


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"netloupe: error: {message}. See `{self.prog} --help`.\n")


def _make_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="netloupe",
        description="Look into neural-network graph files (ONNX, Caffe2).",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"netloupe {_version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    info = commands.add_parser("info", help="print a summary of a model")
    info.add_argument("model", metavar="MODEL", type=_file_name, help="a model file")
    _add_init(info)
    _add_json(info)
    info.set_defaults(run=_run_info)

    inspect = commands.add_parser("inspect", help="print everything about a node, value or tensor")
    inspect.add_argument("model", metavar="MODEL", type=_file_name, help="a model file")
    _add_init(inspect)
    inspect.add_argument("name", metavar="NAME", help="a path or name, as in main/Conv_1 or %%w")
    _add_json(inspect)
    inspect.set_defaults(run=_run_inspect)

    render = commands.add_parser("render", help="draw a model into a file")
    render.add_argument("model", metavar="MODEL", type=_file_name, help="a model file")
    _add_init(render)
    render.add_argument(
        *("-o", "--output"),
        required=True,
        metavar="FILE",
        type=_file_name,
        help="a .svg, .html, .pdf, .png or .dot",
    )
    render.add_argument("--graph", default="", metavar="PATH", help="draw this graph")
    render.add_argument(
        "--expand",
        default="auto",
        metavar="auto|all|none|DEPTH",
        help="which groups are open (default: auto, what fits a readable picture)",
    )
    render.add_argument("--focus", default="", metavar="PATH", help="only what is around this")
    render.add_argument(
        "--hops", type=int, default=2, metavar="K", help="how many edges around it (default: 2)"
    )
    render.add_argument("--direction", default="TB", choices=("TB", "LR"))
    render.add_argument("--theme", default="light", choices=("light", "dark"))
    render.add_argument("--grouping", default="auto", choices=_GROUPINGS)
    render.add_argument(
        "--wrap",
        default="auto",
        metavar="auto|yes|no|COLUMNS",
        help="cut what is extremely long into columns, read like a page (default: auto)",
    )
    render.add_argument("--show", action="store_true", help="open the file when it is written")
    render.set_defaults(run=_run_render)

    show = commands.add_parser("open", help="explore a model in a browser window of its own")
    show.add_argument("model", metavar="MODEL", type=_file_name, help="a model file")
    _add_init(show)
    show.add_argument("--no-browser", action="store_true", help="only print the address")
    show.add_argument("--port", type=int, default=0, help="the port (default: a free one)")
    show.set_defaults(run=_run_open)
    return parser


def _add_init(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--init",
        metavar="FILE",
        type=_file_name,
        help="the init net of a Caffe2 net (default: looked for beside it by the usual names)",
    )


def _add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--json",
        action="store_true",
        help="print JSON; of lists longer than 1,000 and texts longer than 10,000 only the "
        'beginning, with "cut": {"/inputs": {"shown": 1000, "total": 50000}} saying so',
    )
    command.add_argument("--all", action="store_true", help="with --json: cut nothing")


def _file_name(text: str) -> str:
    """Return the name of a file; a variable of the shell that is not set gives none."""
    if not text.strip() and not os.path.lexists(text):
        raise argparse.ArgumentTypeError("the file name is empty. Give the name of a file")
    return text


def _version() -> str:
    from netloupe import __version__

    return __version__


def _run_info(parsed: argparse.Namespace) -> int:
    from netloupe.explorer.describe.encoding import MOST_ENTRIES
    from netloupe.explorer.info import format_summary, summarize_model
    from netloupe.explorer.load import load

    with TerminalProgress() as progress:
        progress.step("reading")
        model = load(parsed.model, parsed.init)
        summary = summarize_model(model, most=None if parsed.all else MOST_ENTRIES)
    if parsed.json:
        print(json.dumps(summary, indent=2))
    else:
        print(format_summary(summary))
    return 0


def _run_inspect(parsed: argparse.Namespace) -> int:
    from netloupe.explorer.describe import add_statistics, describe_path, format_text, to_json
    from netloupe.explorer.describe.encoding import MOST_ENTRIES
    from netloupe.explorer.load import load

    with TerminalProgress() as progress:
        progress.step("reading")
        description = describe_path(load(parsed.model, parsed.init), parsed.name)
        if not parsed.json:
            progress.step("reading elements")
            description = add_statistics(
                description, lambda share: progress.step("reading elements", share)
            )
    if parsed.json:
        most = None if parsed.all else MOST_ENTRIES
        print(json.dumps(to_json(description, most=most), indent=2))
    else:
        print(format_text(description))
    return 0


def _run_render(parsed: argparse.Namespace) -> int:
    output = Path(parsed.output)
    kind = output.suffix[1:].lower()
    # everything that can be known to be wrong is said before the work begins
    if kind not in ("svg", "html", "pdf", "png", "dot"):
        raise OutputError(
            f"{output}: the ending does not name a format. Use .svg, .html, .pdf, .png or .dot."
        )
    from netloupe.explorer.output import check_place, write_file

    check_place(output)
    from netloupe.explorer.layout import DEADLINE, PATIENCE, shared_engine
    from netloupe.explorer.load import load
    from netloupe.explorer.picture import ViewOptions, make_picture, render_picture

    options = ViewOptions.parse(
        {
            "graph": parsed.graph,
            "expand": parsed.expand,
            "focus": parsed.focus,
            "hops": parsed.hops,
            "direction": parsed.direction,
            "theme": parsed.theme,
            "grouping": parsed.grouping,
            "wrap": _parse_wrap(parsed.wrap),
        }
    )
    with TerminalProgress() as progress:
        progress.step("reading")
        model = load(parsed.model, parsed.init)
        shared_engine().start()
        picture = make_picture(
            model,
            options,
            deadline=DEADLINE if options.expand == "auto" else PATIENCE,
            progress=lambda done, total: progress.step("laying out", done / total),
        )
        progress.step("drawing")
        write_file(output, render_picture(picture, kind))
    for notice in picture.notices:
        print(f"netloupe: note: {notice}", file=sys.stderr)
    if parsed.show:
        import webbrowser

        if not webbrowser.open(output.resolve().as_uri()):
            print(f"netloupe: note: no browser here; the picture is {output}", file=sys.stderr)
    return 0


def _parse_wrap(text: str) -> str | bool | int:
    if text in ("yes", "no"):
        return text == "yes"
    return int(text) if text.isdecimal() else text


def _run_open(parsed: argparse.Namespace) -> int:
    from netloupe.explorer.load import load
    from netloupe.explorer.serve import serve_model

    load(parsed.model, parsed.init)  # what is no model is refused here, on one line
    init = Path(parsed.init) if parsed.init else None
    return serve_model(
        Path(parsed.model), init=init, port=parsed.port, browser=not parsed.no_browser
    )
