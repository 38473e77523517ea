"""Every message that readers can give of a model belongs to a rule, as the table here has it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from netloupe.explorer.checks import RULES
from netloupe.explorer.checks.noted import OTHER, find_rule_of

_ROOT = Path(__file__).resolve().parents[2] / "explorer"
_ROOMS = ("readers", "inference")

#: by rule, the texts of readers and inference with {} where something is put in
_MESSAGES: dict[str, tuple[str, ...]] = {
    "annotation": (
        "has a quantization annotation but does not exist",
        "has two quantization annotations",
    ),
    "appended-model": (
        (
            "the file gives {} more than once, as models written one after the other do; "
            "protobuf makes one model of them"
        ),
    ),
    "attribute-data": (
        "has argument {} twice",
        "has attribute {} {}",
        "holds several values: {}",
        "says it is {} but holds {}",
        "the attribute's kind {} is not known",
    ),
    "defined-twice": (
        "defines %{}, which is defined before",
        "is listed twice as an input",
        "is listed twice as an output, as {} and as {}; the last counts",
        "two fills have this name; the last is used",
        "two initializers have this name; the first is used",
    ),
    "external-data": (
        "its {} is a number of {} digits",
        "its {} is {}, which is no plain decimal number",
    ),
    "file-oddity": (
        (
            "a sequence of at most one element and an optional are written alike; the file is "
            "shown as a sequence"
        ),
        "another net of the plan has the same name",
        "another {} has the same name",
        "does not give what the file states, as onnx {} has it: ",
        "has both substeps and nets, of which it may have only one kind",
        "has no op_type",
        "has no type",
        "has {} and {}",
        "holds nets that write more blobs than are followed out of them",
        "holds {}, but gives {} as element type",
        "is filled with a string, for which Caffe2 wants a dtype",
        "is filled, and then written again by {}",
        "lists an external input twice",
        "runs the net {}, which the plan does not hold",
        "the init net is not used: {}",
        "{} nested deeper than {} levels: shown to that depth",
    ),
    "function-twice": ("another function has the same domain, name and overload",),
    "import-twice": ("the operator set {} is imported twice",),
    "missing-ir-version": ("the file does not state its IR version",),
    "tensor-data": (
        "also holds {}, which is not read beside {}",
        "does not give its {}",
        "holds its elements more than once: {}",
        "is stored externally, but the file does not say where",
        "its elements are in {} instead of {}",
        "its segment has no beginning or no end",
        "the dimensions {} are negative",
        "the element type is {}",
        "the fill does not give a shape",
        "the fill has no values",
        "the sparse tensor has no indices",
        "the storage type is unknown({})",
        "{} {} {} stored where {} {} {}",
    ),
    "undefined-value": (
        "has {} more inputs that nothing defines",
        "is an external output that nothing defines",
        "is an output that nothing defines",
        "uses %{}, which nothing defines",
    ),
    "unknown-fields": (
        "the file has fields that the schema does not know: {}",
        "what the schema does not know is left out: {}",
    ),
    "use-before-definition": ("uses %{} before {} gives it",),
}
#: texts in the same modules that are no such messages: names of elements, steps of work, errors
_NO_MESSAGES = {
    ", … {} in all",
    "IR version",
    "SequenceProto or OptionalProto",
    "also in {}",
    "at least {}",
    "at most {}",
    "argument '{}' of {}",
    "arguments of {}",
    "filled by",
    "given by",
    "init net",
    "init net file",
    "input '{}'",
    "no content",
    "no type",
    "node '{}' in {}",
    "of the net",
    "onnx was stopped before it came to the end of the functions",
    "output '{}'",
    "reading nodes",
    "reading operators",
    "reading types",
    "reading values",
    "sparse initializer",
    "the fill of '{}'",
    "the graph {}",
    "the init net of a Caffe2 net",
    "the model",
    "the quantization annotation of '{}'",
    "what cannot be read",
    "what the schema does not know: {}",
    "{} nested deeper than {} levels",
    "written by",
    "{} of node '{}' in {}",
    (
        "{}: onnx crashed or ran out of memory while it inferred shapes on {} without "
        "weights. Try another version of onnx."
    ),
    (
        "{}: onnx took longer than {} s to infer shapes and was stopped. Give it more time "
        "with infer_shapes(timeout=…)."
    ),
    "{}: onnx {} cannot infer its shapes ({}). See what onnx.checker says of the model.",
    (
        "{}: shapes are inferred by onnx, which cannot be imported ({}). Install it anew "
        "with: pip install --force-reinstall onnx."
    ),
    "{}[value {}]",
}


def list_texts() -> Iterator[str]:
    """Yield the texts in modules that warn, of which messages may be made.

    Those that are raised, documentation and single words are left out.
    """
    for room in _ROOMS:
        for path in sorted((_ROOT / room).rglob("*.py")):
            source = path.read_text("utf-8")
            if "ModelWarning" in source or "warnings" in source or "_judge_wiring" in source:
                yield from _list_in_module(ast.parse(source))


def _list_in_module(tree: ast.Module) -> Iterator[str]:
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        text = _read_text(node)
        parent = parents.get(node)
        if text is None or " " not in text.strip("{} ") or isinstance(parent, ast.Expr):
            continue
        if parent is not None and (
            _read_text(parent) is not None or isinstance(parent, ast.FormattedValue | ast.JoinedStr)
        ):
            continue  # a part of a longer one
        if not _is_raised(node, parents):
            yield text


def _read_text(node: ast.AST) -> str | None:
    """Return a text, {} standing for what is put in; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        parts = (_read_text(part) or "{}" for part in node.values)
        return "".join(parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = _read_text(node.left), _read_text(node.right)
        if sides != (None, None):
            return "".join("{}" if side is None else side for side in sides)
    return None


def _is_raised(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Return whether a text is that of an exception."""
    at: ast.AST | None = node
    while at is not None and not isinstance(at, ast.stmt):
        if isinstance(at, ast.Call):
            called = at.func
            name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
            if name.endswith("Error") or name == "damage":
                return True
        at = parents.get(at)
    return isinstance(at, ast.Raise)


def test_every_message_is_in_the_table() -> None:
    known = {text for texts in _MESSAGES.values() for text in texts}
    found = set(list_texts())
    assert found - known - _NO_MESSAGES == set(), "say which rule these belong to"
    assert (known | _NO_MESSAGES) - found == set(), "these are there no more"


def test_messages_belong_to_the_rule_that_the_table_says() -> None:
    for rule, texts in _MESSAGES.items():
        for text in texts:
            assert find_rule_of(text.replace("{}", "7")) == rule, text


def test_rules_of_messages_are_there() -> None:
    names = {rule.name for rule in RULES}
    assert set(_MESSAGES) <= names
    assert OTHER in names
