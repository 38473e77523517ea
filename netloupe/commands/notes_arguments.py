"""The words of ``netloupe notes``."""

from __future__ import annotations

import argparse
from typing import Any

from .shared_arguments import MODEL, read_file_name

_EXAMPLES = """examples:
  netloupe notes model.onnx                                 list them
  netloupe notes model.onnx add Conv_12 "clips: see the histogram" --tag int8
  netloupe notes model.onnx add encoder/layer.3/ "one head is dead"
  netloupe notes model.onnx edit 3f2a9c01 --text "fixed in the next export"
  netloupe notes model.onnx edit 3f2a9c01 --on main/Conv_14     where an element is uncertain
  netloupe notes model.onnx remove 3f2a9c01
  netloupe notes model.onnx accept NL-G02 "kept for the tokenizer of version 1"
  netloupe notes model.onnx merge downloaded.notes.jsonl    those of a colleague
  netloupe notes new.onnx carry old.onnx                    those of another version

They are kept in MODEL.notes.jsonl beside the model. For git: *.notes.jsonl merge=union in
.gitattributes."""


def add_notes(commands: Any) -> None:
    """Add the command, its options and its help to the commands of a parser."""
    notes: argparse.ArgumentParser = commands.add_parser(
        "notes",
        help="list, write, edit and remove notes on a model",
        description="Notes on elements of a model, kept in a file beside it.",
        epilog=_EXAMPLES,
    )
    notes.add_argument("models", metavar="MODEL", type=read_file_name, nargs=1, help=MODEL)
    _add_common(notes, is_action=False)
    actions = notes.add_subparsers(
        dest="action", metavar="ACTION", prog="netloupe notes MODEL", required=False
    )
    add = actions.add_parser("add", help="write a note")
    add.add_argument(
        "places", metavar="PATH", nargs="+", help="an element or group, several for a region"
    )
    add.add_argument("text", metavar="TEXT", help="what to write")
    accept = actions.add_parser("accept", help="accept a finding of check, and say why")
    accept.add_argument(
        "finding", metavar="FINDING", help="a rule, as NL-G02; with @PATH where it finds several"
    )
    accept.add_argument("text", metavar="TEXT", help="why it is well so")
    edit = actions.add_parser("edit", help="change a note")
    edit.add_argument("note", metavar="ID", help="of the note; its first characters are enough")
    edit.add_argument("--text", metavar="TEXT", help="what it says instead")
    edit.add_argument(
        "--on", metavar="PATH", action="append", default=None, help="what it is about instead"
    )
    for parser in (add, accept, edit):
        parser.add_argument(
            "--tag", dest="tags", metavar="TAG", action="append", help="a word to find it by"
        )
    remove = actions.add_parser("remove", help="remove a note")
    remove.add_argument("note", metavar="ID", help="of the note; its first characters are enough")
    merge = actions.add_parser("merge", help="add the notes of another file")
    merge.add_argument("other", metavar="FILE", type=read_file_name, help="a file of notes")
    carry = actions.add_parser("carry", help="take over the notes of another version")
    carry.add_argument("other", metavar="MODEL", type=read_file_name, help="the other version")
    for parser in (add, accept, edit, remove):
        parser.add_argument("--author", metavar="NAME", help="who writes (default: the user)")
    for parser in actions.choices.values():
        _add_common(parser, is_action=True)
    notes.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    from .notes import run_notes

    return run_notes(parsed)


def _add_common(parser: argparse.ArgumentParser, *, is_action: bool) -> None:
    """Add options that may stand before or behind the action."""
    left_out: Any = argparse.SUPPRESS if is_action else None
    parser.add_argument(
        "--init",
        metavar="FILE",
        type=read_file_name,
        default=left_out,
        help="the init net of a Caffe2 net",
    )
    parser.add_argument(
        "--file",
        metavar="FILE",
        type=read_file_name,
        default=left_out,
        help="where notes are kept (default: MODEL.notes.jsonl)",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        default=argparse.SUPPRESS if is_action else False,
        help="print JSON",
    )
