"""The words of the command line: commands, options, and what they take."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from netloupe import __version__
from netloupe.explorer.files.output import FORMATS
from netloupe.explorer.options import OPTIONS, PAGE_OPTIONS, Option

from .notes_arguments import add_notes
from .streams import STANDARD, say, write_standard_output

SHELLS = ("bash", "zsh", "fish", "powershell")

_MODEL = "a model file, or - for the standard input"

_EXAMPLES = """examples:
  netloupe model.onnx                             explore it in the browser
  netloupe info model.onnx                        what is in it
  netloupe inspect model.onnx Conv_12             everything about a node, value or weight
  netloupe check model.onnx                       what is wrong or odd with it
  netloupe diff old.onnx new.onnx                 what changed
  netloupe notes model.onnx                       what people wrote of it
  netloupe render model.onnx -o model.svg         draw it
  curl -s https://example.org/m.onnx | netloupe info -

Exit status: 0 fine, 2 with one line on the standard error for anything to be mended,
1 where check or diff finds what --fail-on names, 130 ended with Ctrl+C."""

_INFO_EXAMPLES = """examples:
  netloupe info model.onnx
  netloupe info model.onnx --bind batch=1 --bind sequence=128
  netloupe info model.onnx --groups --depth 3      what its parts are and cost
  netloupe info *.onnx --json | jq .totals        JSON Lines: one line for each file
  netloupe info predict_net.pb --init init_net.pb"""

_INSPECT_EXAMPLES = """examples:
  netloupe inspect model.onnx Conv_12             by name
  netloupe inspect model.onnx main/If_3.then_branch/Conv_1
  netloupe inspect model.onnx %conv1.weight       a value or weight, with statistics
  netloupe inspect model.onnx Conv_12 Relu_13 --json"""

_CHECK_EXAMPLES = """examples:
  netloupe check model.onnx                       errors, warnings, notes, each with a remedy
  netloupe check model.onnx --select NL-N,NL-Q    numbers and quantization
  netloupe check model.onnx --target ort-1.17     and whether ONNX Runtime 1.17 can read it
  netloupe check model.onnx --json > known.json; netloupe check new.onnx --baseline known.json
  netloupe check models/*.onnx --sarif --fail-on error > findings.sarif
  netloupe check --explain NL-G02                 what a rule is about; all lists them

What options leave out, [tool.netloupe] in the nearest pyproject.toml may say: select, ignore,
target, baseline, fail-on."""

_DIFF_EXAMPLES = """examples:
  netloupe diff old.onnx new.onnx
  netloupe diff old.onnx new.onnx --ignore names,docs --json
  netloupe diff old.onnx new.onnx --fail-on interface       for a build: 1 if it is no drop-in
  netloupe diff old.onnx new.onnx --fail-on weights:1e-3    1 if a weight is off by 0.1 % (L2)"""

_RENDER_EXAMPLES = """examples:
  netloupe render model.onnx -o model.svg
  netloupe render model.onnx -o model.html        the explorer in one file
  netloupe render model.onnx -o m.html --weights none --size-limit 2MB
  netloupe render model.onnx -o layer3.pdf --focus encoder/layer.3 --hops 1
  netloupe render model.onnx -o - --format png | icat
  netloupe render a.onnx b.onnx -o pictures/ --format svg"""

_OPEN_EXAMPLES = """examples:
  netloupe open model.onnx
  netloupe model.onnx                             the same
  netloupe open model.onnx --no-browser --port 8899"""

_COMPLETION_EXAMPLES = """examples:
  eval "$(netloupe completion bash)"              in ~/.bashrc; zsh likewise in ~/.zshrc
  netloupe completion fish | source               in ~/.config/fish/config.fish"""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and whose help ends in examples."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message: str) -> NoReturn:
        text = f"{message}. See `{self.prog} --help`."
        say("error", text)
        self.exit(2)

    def _print_message(self, message: str, file: Any = None) -> None:
        write_standard_output(message.rstrip("\n"))


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; what it parses has ``command``, ``models``, ``init``."""
    parser = _Parser(
        prog="netloupe",
        usage="netloupe [-h] [--version] MODEL | COMMAND …",
        description="Look into neural-network graph files (ONNX, Caffe2).",
        epilog=_EXAMPLES,
    )
    parser.add_argument("--version", action="version", version=f"netloupe {__version__}")
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, prog="netloupe"
    )
    for add in (
        _add_info,
        _add_inspect,
        _add_check,
        _add_diff,
        add_notes,
        _add_render,
        _add_open,
        _add_completion,
    ):
        add(commands)
    return parser


def add_command(arguments: Sequence[str], commands: Sequence[str]) -> list[str]:
    """Return the arguments with ``open`` before them where they begin with a model.

    A file that is named as a command is given as ``./info``.
    """
    first = next(iter(arguments), "")
    is_file = first == STANDARD or (not first.startswith("-") and _looks_like_file(first))
    if first and first not in commands and is_file:
        return ["open", *arguments]
    return list(arguments)


def explain_command(arguments: Sequence[str], commands: Sequence[str]) -> str:
    """Return what is wrong with the first argument where it is no command; "" if nothing is."""
    first = next(iter(arguments), "")
    if not first or first.startswith("-") or first in commands:
        return ""
    near = get_close_matches(first, commands, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"{first!r} is neither a command ({', '.join(commands)}) nor a file.{hint}"


def _looks_like_file(text: str) -> bool:
    return os.path.lexists(text) or os.sep in text or Path(text).suffix != ""


def _add_info(commands: Any) -> None:
    info: argparse.ArgumentParser = commands.add_parser(
        "info",
        help="print a summary of models",
        description="Print what models hold: graphs, operators, parameters, warnings.",
        epilog=_INFO_EXAMPLES,
    )
    info.add_argument("models", metavar="MODEL", type=_file_name, nargs="+", help=_MODEL)
    _add_init(info)
    _add_infer_shapes(info)
    _add_bind(info)
    info.add_argument(
        "--groups", action="store_true", help="print the tree of groups: what each is and costs"
    )
    info.add_argument(
        "--depth", metavar="N", type=_depth, help="with --groups: so many levels (default: 2)"
    )
    _add_json(info)


def _add_inspect(commands: Any) -> None:
    inspect: argparse.ArgumentParser = commands.add_parser(
        "inspect",
        help="print everything about a node, value or tensor",
        description="Print everything that is known of nodes, values, tensors, groups or graphs.",
        epilog=_INSPECT_EXAMPLES,
    )
    inspect.add_argument("models", metavar="MODEL", type=_file_name, nargs=1, help=_MODEL)
    names = inspect.add_argument(
        "names", metavar="NAME", nargs="+", help="a path or name, as in main/Conv_1 or %%w"
    )
    names.completer = _complete_paths  # type: ignore[attr-defined] # argcomplete's way
    _add_init(inspect)
    _add_infer_shapes(inspect)
    _add_json(inspect)


def _add_check(commands: Any) -> None:
    check: argparse.ArgumentParser = commands.add_parser(
        "check",
        help="find what is wrong or odd in models",
        description="Apply rules to models: legality, waste, export mistakes, numbers, "
        "quantization, portability, security.",
        epilog=_CHECK_EXAMPLES,
    )
    check.add_argument("models", metavar="MODEL", type=_file_name, nargs="*", help=_MODEL)
    _add_init(check)
    form = check.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON, for several a line each")
    form.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0, for all models one")
    check.add_argument(
        "--select",
        metavar="IDS",
        help="rules to apply: ids, beginnings of ids or names, with commas",
    )
    check.add_argument("--ignore", metavar="IDS", help="rules not to apply")
    check.add_argument("--target", metavar="RUNTIME", help="the runtime meant, as in ort-1.17")
    check.add_argument(
        "--baseline",
        metavar="FILE",
        type=_file_name,
        help="the JSON of an earlier check: what it has is known",
    )
    check.add_argument(
        "--fail-on",
        choices=("error", "warning"),
        help="exit with 1 where a finding is as bad as this, or worse",
    )
    check.add_argument(
        "--no-notes",
        dest="with_notes",
        action="store_false",
        help="pass over what notes beside the model accept",
    )
    check.add_argument("--explain", metavar="ID", help="print what a rule is about; all lists them")


def _add_diff(commands: Any) -> None:
    diff: argparse.ArgumentParser = commands.add_parser(
        "diff",
        help="tell what differs between two models",
        description="Pair the nodes and weights of two models, whatever they are called, and tell "
        "what changed.",
        epilog=_DIFF_EXAMPLES,
    )
    for place in ("the model before", "the model after"):
        diff.add_argument("models", metavar="MODEL", type=_file_name, action="append", help=place)
    diff.set_defaults(init=None)
    diff.add_argument(
        "--ignore",
        metavar="WORDS",
        type=_ignored,
        default=(),
        help="what is no difference: names, docs, storage, defaults, order, with commas between",
    )
    diff.add_argument(
        "--fail-on",
        metavar="WHAT",
        type=_fail_on,
        help="exit with 1 where the structure differs, the interface is not compatible, or "
        "weights differ: structure, interface, weights, weights:1e-3",
    )
    _add_json(diff)


def _ignored(text: str) -> tuple[str, ...]:
    from .diff import read_ignored

    return read_ignored(text)


def _fail_on(text: str) -> object:
    from .diff import read_fail_on

    return read_fail_on(text)


def _add_render(commands: Any) -> None:
    render: argparse.ArgumentParser = commands.add_parser(
        "render",
        help="draw models into files",
        description="Draw models as vector graphics, a page or a picture.",
        epilog=_RENDER_EXAMPLES,
    )
    render.add_argument("models", metavar="MODEL", type=_file_name, nargs="+", help=_MODEL)
    _add_init(render)
    render.add_argument(
        *("-o", "--output"),
        required=True,
        metavar="FILE",
        type=_file_name,
        help="a .svg, .html, .pdf, .png or .dot; with --format also a folder, "
        "or - for the standard output",
    )
    render.add_argument(
        "--format", choices=FORMATS, help="the format (default: what the name of FILE ends in)"
    )
    for option in OPTIONS.values():
        _add_view_option(render, option)
    render.add_argument(
        "--static",
        action="store_true",
        help="of .html: the still picture without a script, not the explorer",
    )
    for option in PAGE_OPTIONS.values():
        _add_view_option(render, option)
    render.add_argument("--show", action="store_true", help="open the file when it is written")


def _add_view_option(command: argparse.ArgumentParser, option: Option) -> None:
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
        added.completer = _complete_paths  # type: ignore[attr-defined] # argcomplete's way


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


def _add_open(commands: Any) -> None:
    show: argparse.ArgumentParser = commands.add_parser(
        "open",
        help="explore a model in a browser window of its own",
        description="Explore a model in a browser window of its own, until Ctrl+C.",
        epilog=_OPEN_EXAMPLES,
    )
    show.add_argument("models", metavar="MODEL", type=_file_name, nargs=1, help=_MODEL)
    _add_init(show)
    show.add_argument("--no-browser", action="store_true", help="only print the address")
    show.add_argument("--port", type=int, default=0, help="the port (default: a free one)")


def _add_completion(commands: Any) -> None:
    completion: argparse.ArgumentParser = commands.add_parser(
        "completion",
        help="print what makes a shell complete commands, options and names in a model",
        description="Print a script with which a shell completes commands, options, and the "
        "names of nodes and values in a model.",
        epilog=_COMPLETION_EXAMPLES,
    )
    completion.add_argument("shell", choices=SHELLS)
    completion.set_defaults(models=[], init=None)


def _complete_paths(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> list[str]:
    from .completion import complete_paths

    model = next(iter(parsed_args.models), STANDARD)
    return [] if model == STANDARD else complete_paths(model, prefix)


def _add_init(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--init",
        metavar="FILE",
        type=_file_name,
        help="the init net of a Caffe2 net (default: looked for beside it by the usual names)",
    )


def _add_bind(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--bind",
        metavar="NAME=N",
        type=_binding,
        action="append",
        default=[],
        help="the size of a symbol for costs, as in batch=1, or the shape of an input that has "
        "none, as in data=1x3x224x224; may be given several times",
    )


def _depth(text: str) -> int:
    """Return a number of levels."""
    if text.isdecimal() and len(text) < 4:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no number of levels. Give one from 0 to 999")


def _binding(text: str) -> tuple[str, int | tuple[int, ...]]:
    """Return the name and the size, or the shape, of ``NAME=N`` or ``NAME=1x3x224x224``."""
    name, _, sizes = text.rpartition("=")
    numbers = sizes.replace(",", "x").split("x")
    if not name or not all(number.isdecimal() and len(number) < 19 for number in numbers):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not like NAME=N. Give a name and a whole number, as in batch=1"
        )
    shape = tuple(map(int, numbers))
    return name, shape[0] if len(shape) == 1 else shape


def _add_infer_shapes(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--infer-shapes",
        action="store_true",
        help="let onnx infer the types that the file does not state (pip install 'netloupe[onnx]')",
    )


def _add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--json",
        action="store_true",
        help="print JSON, for several a line each; of lists longer than 1,000 and texts longer "
        'than 10,000 only the beginning, with "cut": {"/inputs": {"shown": 1000, "total": '
        "50000}} saying so",
    )
    command.add_argument("--all", action="store_true", help="with --json: cut nothing")


def _file_name(text: str) -> str:
    """Return the name of a file; a variable of the shell that is not set gives none."""
    if not text.strip() and not os.path.lexists(text):
        raise argparse.ArgumentTypeError("the file name is empty. Give the name of a file")
    return text


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
