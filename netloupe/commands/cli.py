"""The command line: info, inspect, check, diff, notes, render, open and completion."""

from __future__ import annotations

import argparse
import atexit
import gc
import io
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloupe.explorer.errors import NetloupeError, OutputError, ReadingError
from netloupe.explorer.options import OPTIONS, PAGE_OPTIONS

from .arguments import add_command, explain_command, make_parser
from .streams import (
    STANDARD,
    advise,
    read_standard_input,
    reason_of,
    say,
    standard_input_as_file,
    write_standard_output,
)
from .targets import choose_targets
from .terminal import TerminalProgress

if TYPE_CHECKING:
    from netloupe.explorer.model import Model
    from netloupe.explorer.standalone.content import PageContent
    from netloupe.explorer.view import ViewOptions

_FOUND = 1
_FAILED = 2
_INTERRUPTED = 130
#: so many objects are made before they are searched for garbage, and so often before older ones
#: are: a command is over soon and drops little that refers to itself, which Python does not expect
_MADE_BEFORE_SEARCH, _YOUNG_SEARCHES = 20_000, 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    atexit.register(gc.freeze)  # at the end nobody needs to search what is left for garbage
    gc.set_threshold(_MADE_BEFORE_SEARCH, _YOUNG_SEARCHES)
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = make_parser()
    if "_ARGCOMPLETE" in os.environ:
        from .completion import answer_shell

        answer_shell(parser)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names need not fit the terminal
    return guard(lambda: _parse_and_run(parser, given), given)


def _parse_and_run(parser: argparse.ArgumentParser, given: list[str]) -> int:
    given = add_command(given, tuple(_RUNS))
    mistake = explain_command(given, tuple(_RUNS))
    if mistake:
        parser.error(mistake)
    parsed = parser.parse_args(given)
    if [*parsed.models, parsed.init].count(STANDARD) > 1:
        parser.error("- stands for the standard input, which can be read only once")
    return _RUNS[parsed.command](parsed)


def guard(run: Callable[[], int], about: Sequence[str] = ()) -> int:
    """Return the exit status of some work; of what goes wrong, say one line and return 2.

    Parameters
    ----------
    run
        The work.
    about
        The words of the command, for messages about what nobody expects.
    """
    try:
        return run()
    except NetloupeError as error:
        if isinstance(error, ReadingError) and os.environ.get("NETLOUPE_DEBUG"):
            raise
        message = str(error)
    except BrokenPipeError:
        return 0  # the reader has seen enough
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:
        if os.environ.get("NETLOUPE_DEBUG"):
            raise
        message = f"{' '.join(about)}: {_explain(error)}"
    say("error", message)
    return _FAILED


def _explain(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return f"{reason_of(error)}. {advise(error)}"
    return (
        f"internal error ({type(error).__name__}: {error}). "
        "Set NETLOUPE_DEBUG=1 for the traceback and report it."
    )


def _load(name: str, init: str | None, *, infer_shapes: bool = False) -> Model:
    from netloupe.explorer.readers.load import load

    model, fills = (read_standard_input() if given == STANDARD else given for given in (name, init))
    return load(model, fills, infer_shapes=infer_shapes)


def _each(models: Sequence[str], run: Callable[[str], int | None]) -> int:
    """Do something with each model; what is wrong with one does not keep the others back."""
    if len(models) == 1:
        return run(models[0]) or 0

    def run_one(name: str) -> int:
        return run(name) or 0

    statuses = []
    for name in models:
        statuses.append(guard(partial(run_one, name), [name]))
        if statuses[-1] == _INTERRUPTED:
            break
    return max(statuses)


def _print_json(told: Any, several: bool) -> None:
    write_standard_output(json.dumps(told, indent=None if several else 2))


def _most_entries(parsed: argparse.Namespace) -> int | None:
    from netloupe.explorer.describe.encoding import MOST_ENTRIES

    return None if parsed.all else MOST_ENTRIES


def _run_info(parsed: argparse.Namespace) -> int:
    from netloupe.explorer.describe.groups import DEPTH, list_groups
    from netloupe.explorer.render.text import clean_label

    from .info import format_summary, summarize_model

    if parsed.depth is not None and not parsed.groups:
        raise OutputError("--depth says how many levels of --groups. Give --groups too.")
    several = len(parsed.models) > 1
    depth = DEPTH if parsed.depth is None else parsed.depth

    def run(name: str) -> None:
        with TerminalProgress() as progress:
            progress.step("reading")
            model = _load(name, parsed.init, infer_shapes=parsed.infer_shapes)
            if parsed.groups and not parsed.json:
                lines = [clean_label(name), *list_groups(model, depth, dict(parsed.bind))]
                write_standard_output("\n".join(lines) + "\n" * several)
                return
            summary = summarize_model(
                model,
                most=_most_entries(parsed),
                bind=dict(parsed.bind),
                depth=depth if parsed.groups else None,
            )
        if parsed.json:
            _print_json(summary, several)
        else:
            write_standard_output(format_summary(summary, model.dialect) + "\n" * several)

    return _each(parsed.models, run)


def _run_inspect(parsed: argparse.Namespace) -> int:
    from netloupe.explorer.describe import add_statistics, describe_path, format_text, to_json
    from netloupe.explorer.model.collector import collector_paused

    several = len(parsed.names) > 1
    with TerminalProgress() as progress:
        progress.step("reading")
        model = _load(parsed.models[0], parsed.init, infer_shapes=parsed.infer_shapes)

    def run(name: str) -> None:
        with TerminalProgress() as progress, collector_paused():  # a million rows are all kept
            progress.step("reading elements")
            description = describe_path(model, name)
            if parsed.json:
                told = to_json(description, most=_most_entries(parsed))
            else:
                description = add_statistics(description)
        if parsed.json:
            _print_json(told, several)
        else:
            write_standard_output(format_text(description) + "\n" * several)

    return _each(parsed.names, run)


def _run_check(parsed: argparse.Namespace) -> int:
    from .check import CheckRun, explain_rules

    if parsed.explain is not None:
        write_standard_output(explain_rules(parsed.explain))
        return 0
    if not parsed.models:
        raise OutputError("check needs a model, or --explain ID. Give the name of a file.")
    work = CheckRun(parsed)

    def run(name: str) -> int:
        with TerminalProgress() as progress:
            progress.step("reading")
            findings = work.check(_load(name, parsed.init))
        return work.tell(findings)

    status = _each(parsed.models, run)
    work.finish(parsed.models)
    return status


def _run_diff(parsed: argparse.Namespace) -> int:
    from netloupe.explorer.compare import diff
    from netloupe.explorer.describe.differences import encode_diff, format_diff

    with TerminalProgress() as progress:
        progress.step("reading")
        left, right = (_load(name, None) for name in parsed.models)
        found = diff(left, right, ignore=parsed.ignore)
        told = encode_diff(found, most=_most_entries(parsed)) if parsed.json else {}
    if parsed.json:
        _print_json(told, several=False)
    else:
        write_standard_output(format_diff(found))
    return _FOUND if parsed.fail_on is not None and parsed.fail_on.applies(found) else 0


def _run_notes(parsed: argparse.Namespace) -> int:
    from .notes import run_notes

    return run_notes(parsed)


def _run_render(parsed: argparse.Namespace) -> int:
    if parsed.hops is not None and not parsed.focus:
        raise OutputError("--hops says how far around --focus. Give --focus PATH too.")
    # everything that can be known to be wrong is said before the work begins
    targets = choose_targets(parsed.models, parsed.output, parsed.format)
    if parsed.show and any(path is None for path, _ in targets.values()):
        raise OutputError("--show needs a file. Give one with -o.")
    is_page = not parsed.static and all(kind == "html" for _, kind in targets.values())
    given = {name: getattr(parsed, name) for name in PAGE_OPTIONS}
    for name, value in given.items():
        if value is not None and not is_page:
            raise OutputError(
                f"{PAGE_OPTIONS[name].flag} is of the explorer in a .html file. "
                f"{'Leave --static out' if parsed.static else 'Write one'}, or leave it out."
            )
    from netloupe.explorer.standalone.content import PageContent
    from netloupe.explorer.view import ViewOptions

    options = ViewOptions.parse({name: getattr(parsed, name) for name in OPTIONS})
    content = PageContent.parse(**given)

    def run(name: str) -> None:
        path, kind = targets[name]
        _draw(name, parsed.init, options, path, content if is_page else kind)
        if path is not None and parsed.show:
            _show(path)

    return _each(parsed.models, run)


def _draw(
    name: str,
    init: str | None,
    options: ViewOptions,
    path: Path | None,
    kind: str | PageContent,
) -> None:
    """Draw a model into a file, or to the standard output where there is none.

    ``kind`` is a format, or what the explorer as HTML holds.
    """
    from netloupe.explorer.files.output import write_file
    from netloupe.explorer.layout import DEADLINE, PATIENCE, shared_engine
    from netloupe.explorer.render.picture import make_picture, render_picture, write_dot

    with TerminalProgress() as progress:
        progress.step("reading")
        model = _load(name, init)
        if kind == "dot":
            progress.step("drawing")
            data, notices = write_dot(model, options)
        elif not isinstance(kind, str):
            from netloupe.explorer.standalone.page import make_page

            shared_engine().start()
            data, notices = make_page(model, options, content=kind)
        else:
            shared_engine().start()
            picture = make_picture(
                model,
                options,
                deadline=DEADLINE if options.expand == "auto" else PATIENCE,
            )
            progress.step("drawing")
            data, notices = render_picture(picture, kind), picture.notices
        if path is not None:
            write_file(path, data)
    if path is None:
        write_standard_output(data)
    for notice in notices:
        say("note", notice)


def _show(path: Path) -> None:
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        say("note", f"no browser here; the picture is {path}")


def _run_open(parsed: argparse.Namespace) -> int:
    from netloupe.explorer.readers.load import load

    from .serve import serve_model

    with ExitStack() as files:
        model, init = (
            files.enter_context(standard_input_as_file()) if given == STANDARD else given
            for given in (parsed.models[0], parsed.init)
        )
        return serve_model(load(model, init), port=parsed.port, browser=not parsed.no_browser)


def _run_completion(parsed: argparse.Namespace) -> int:
    from .completion import script_for

    write_standard_output(script_for(parsed.shell))
    return 0


_RUNS: dict[str, Callable[[argparse.Namespace], int]] = {
    "info": _run_info,
    "inspect": _run_inspect,
    "check": _run_check,
    "diff": _run_diff,
    "notes": _run_notes,
    "render": _run_render,
    "open": _run_open,
    "completion": _run_completion,
}
