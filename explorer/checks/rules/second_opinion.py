"""What onnx has against types and shapes that rules of ours could not judge."""

from __future__ import annotations

import re
from collections.abc import Iterator

from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.errors import InferenceError
from netloupe.explorer.notation import write_count
from netloupe.explorer.progress import is_ending

#: onnx is asked of models of so many nodes at most, and for so long
_MOST_NODES = 20_000
_SECONDS = 10.0
_NUMBERS = re.compile(r"\d+")


def _find_refused(subject: Subject) -> Iterator[Occurrence]:
    """Yield what onnx refuses; it is asked only where our own rules did not see everything."""
    from netloupe.explorer.inference import is_installed
    from netloupe.explorer.inference.opinion import ask_opinion

    model = subject.model
    if not subject.is_onnx or not model.can_infer_shapes or not subject.uses.unknown:
        return
    if not is_installed():
        subject.leave_out("onnx is not installed, whose inference is a second opinion")
        return
    if model.node_count > _MOST_NODES:
        subject.leave_out(f"onnx is not asked of more than {write_count(_MOST_NODES, 'node')}")
        return
    try:
        opinion = ask_opinion(model, _SECONDS)
    except InferenceError as error:
        if is_ending(error):
            raise
        subject.leave_out(str(error).removeprefix(f"{model.source}: "))
        return
    for refusal in opinion.refusals:
        message = f"onnx {opinion.version} refuses it: {refusal.message}"
        cause = _NUMBERS.sub("0", refusal.message)[:200]
        yield Occurrence(refusal.path, message, {"onnx": opinion.version}, cause)


RULES = (
    Rule(
        "NL-T20",
        "second-opinion",
        "warning",
        "Types or shapes that onnx refuses, where no rule of ours could judge",
        "onnx.checker refuses the model with full_check. It is asked only where a type or rank is "
        "not known to our own rules, and where it is installed.",
        "See what it says of the node; export again, or correct types and shapes.",
        "onnx.shape_inference with check_type and strict_mode",
        _find_refused,
    ),
)
