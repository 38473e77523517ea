"""Options that several commands have, and how what they take is read."""

from __future__ import annotations

import argparse
import os
from typing import Any

from .streams import STANDARD

#: what a command says of its operand
MODEL = "a model file, or - for the standard input"
#: the same of a command that takes many
MODELS = (
    "a model file, a folder of them, a pattern such as 'models/**/*.onnx', or - for the standard "
    "input"
)
#: more processes than any machine has cores for
_MOST_JOBS = 1_024


def add_init(command: argparse.ArgumentParser) -> None:
    """Add ``--init``, the second file of a Caffe2 net."""
    command.add_argument(
        "--init",
        metavar="FILE",
        type=read_file_name,
        help="the init net of a Caffe2 net (default: looked for beside it by the usual names)",
    )


def add_infer_shapes(command: argparse.ArgumentParser) -> None:
    """Add ``--infer-shapes``, which asks onnx for types that a file does not state."""
    command.add_argument(
        "--infer-shapes",
        action="store_true",
        help="let onnx infer the types that the file does not state (pip install onnx)",
    )


def add_bind(command: argparse.ArgumentParser) -> None:
    """Add ``--bind``, which gives symbols their sizes."""
    command.add_argument(
        "--bind",
        metavar="NAME=N",
        type=_binding,
        action="append",
        default=[],
        help="the size of a symbol for costs, as in batch=1, or the shape of an input, as in "
        "data=1x3x224x224, which replaces a stated one; may be given several times",
    )


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


def add_color_by(command: argparse.ArgumentParser) -> None:
    """Add ``--color-by`` and what says how, and ``--bind`` for the sizes that MACs depend on."""
    columns = command.add_argument(
        "--color-by",
        metavar="COLUMN",
        action="append",
        default=[],
        help="colour boxes by parameters, macs, bytes, intensity, dtype, findings or sqnr, or by "
        "numbers in a file: CSV or JSON with names and values, node data of Model Explorer, a "
        "profile of ONNX Runtime or TensorRT; FILE:HEADING takes one column of several. May be "
        "given several times where the explorer is shown",
    )
    columns.completer = _complete_columns  # type: ignore[attr-defined] # argcomplete's way
    command.add_argument(
        "--color-scale",
        choices=("share", "linear", "log", "quantile", "diverging"),
        help="how numbers become colours (default: what fits them)",
    )
    command.add_argument(
        "--color-groups",
        choices=("sum", "mean", "max", "min"),
        help="what a closed group has of the numbers inside (default: the sum of times, MACs, "
        "bytes and parameters, and else the largest)",
    )
    add_bind(command)


def add_twin(command: argparse.ArgumentParser) -> None:
    """Add ``--float``, the model with which ``--color-by sqnr`` compares."""
    command.add_argument(
        "--float",
        dest="twin",
        metavar="TWIN",
        type=read_file_name,
        help="the float model that a quantized one was made of, for --color-by sqnr",
    )


def add_json(command: argparse.ArgumentParser) -> None:
    """Add ``--json`` and ``--all``."""
    command.add_argument(
        "--json",
        action="store_true",
        help="print JSON, for several a line each; of lists longer than 1,000 and texts longer "
        'than 10,000 only the beginning, with "cut": {"/inputs": {"shown": 1000, "total": '
        "50000}} saying so",
    )
    command.add_argument("--all", action="store_true", help="with --json: cut nothing")


def read_file_name(text: str) -> str:
    """Return the name of a file; a variable of the shell that is not set gives none."""
    if not text.strip() and not os.path.lexists(text):
        raise argparse.ArgumentTypeError("the file name is empty. Give the name of a file")
    return text


def complete_names(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> list[str]:
    """Return the paths and names in the model on the command line that begin with a text."""
    from .completion import complete_paths

    model = next(iter(parsed_args.models), STANDARD)
    return [] if model == STANDARD else complete_paths(model, prefix)


def _complete_columns(prefix: str, **_: Any) -> list[str]:
    """Return the columns of a model, and the files, whose names begin with a text."""
    from argcomplete.completers import FilesCompleter

    from .completion import complete_columns

    return [*complete_columns(prefix), *FilesCompleter()(prefix)]


def add_jobs(command: argparse.ArgumentParser) -> None:
    """Add ``--jobs``, for commands that take many models."""
    command.add_argument(
        "--jobs",
        metavar="N",
        type=_jobs,
        default=1,
        help="work in so many processes, each on one model at a time (default: 1)",
    )


def _jobs(text: str) -> int:
    """Return a number of processes."""
    if text.isdecimal() and len(text) < 5 and 0 < int(text) <= _MOST_JOBS:
        return int(text)
    raise argparse.ArgumentTypeError(
        f"{text[:60]!r} is no number of processes. Give one from 1 to {_MOST_JOBS:,}"
    )
