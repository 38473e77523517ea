"""What onnx's strictest inference has against a model: a second opinion on types and shapes."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple
from weakref import WeakKeyDictionary

from netloupe.explorer.errors import InferenceError
from netloupe.explorer.model import Model
from netloupe.explorer.notation import clip_text
from netloupe.explorer.readers.onnx.skeleton import write_skeleton

from .process import run_worker

_LONGEST_REASON = 300


class Refusal(NamedTuple):
    """One place at which onnx refuses a model.

    Parameters
    ----------
    path
        Of the node; of the model where onnx names none.
    message
        What onnx says.
    """

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Opinion:
    """What onnx says of a model.

    Parameters
    ----------
    version
        Of onnx.
    refusals
        At which nodes it refuses the model, and why.
    """

    version: str
    refusals: tuple[Refusal, ...]


#: of each model the last one, with the digest of the skeleton that onnx was given: rules, overlays
#: and reports of one model would ask again and again, and a process takes a third of a second
_OPINIONS: WeakKeyDictionary[Model, tuple[bytes, Opinion]] = WeakKeyDictionary()


def ask_opinion(model: Model, timeout: float) -> Opinion:
    """Ask onnx, in a process of its own, where types and shapes of a model cannot be.

    The model is left as it is: nothing is inferred for its values. An opinion is kept as long as
    the model, and asked for anew where something in the model's skeleton has changed since.

    Parameters
    ----------
    model
        The model.
    timeout
        Seconds after which onnx is stopped.

    Raises
    ------
    InferenceError
        Where onnx cannot be asked, or came to no end.
    """
    skeleton = write_skeleton(model)
    digest = sha256(skeleton.data).digest()
    kept = _OPINIONS.get(model)
    if kept is not None and kept[0] == digest:
        return kept[1]
    answer = run_worker(skeleton.data, timeout, "judge")
    if not answer.is_done:
        why = answer.missing or answer.error
        if not why:
            why = f"it took longer than {timeout:g} s" if answer.is_late else "it crashed"
        raise InferenceError(
            f"{model.source}: onnx gives no second opinion ({clip_text(why, _LONGEST_REASON)}). "
            "See what onnx.checker says of the model."
        )
    refusals = []
    for number, index, text in answer.notes:
        path = model.path
        if number < len(skeleton.graphs) and 0 <= index < len(skeleton.graphs[number].nodes):
            path = skeleton.graphs[number].nodes[index].path
        refusals.append(Refusal(path, clip_text(" ".join(text.split()), _LONGEST_REASON)))
    opinion = Opinion(answer.version, tuple(refusals))
    _OPINIONS[model] = digest, opinion
    return opinion
