"""From a model to the inferred types of its values."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from threading import Lock

from netloupe.explorer.errors import InferenceError
from netloupe.explorer.model import (
    Dimension,
    Graph,
    Model,
    ModelWarning,
    SparseTensorType,
    TensorType,
    ValueType,
    find_constant_source,
)
from netloupe.explorer.model.graph import give_inferred_types
from netloupe.explorer.model.inference import Inference
from netloupe.explorer.model.kept import forget_kept, get_kept, keep
from netloupe.explorer.model.model import forget_warnings
from netloupe.explorer.model.value import may_have_type
from netloupe.explorer.notation import clip_text, write_bytes
from netloupe.explorer.progress import step
from netloupe.explorer.readers.onnx.skeleton import Skeleton, read_inferred_types, write_skeleton

from .process import Answer, run_worker

#: how long onnx may take, where nobody says otherwise
DEADLINE_SECONDS = 60.0
_LONGEST_REASON = 300
_STEP = 10_000
#: held while types are given to a model, so that no two do so at once
_giving = Lock()


def is_installed() -> bool:
    """Return whether onnx is there; it is not imported."""
    return find_spec("onnx") is not None


def lacks_types(model: Model) -> bool:
    """Return whether a node gives a value whose type the file does not state; constants apart."""
    return any(
        not may_have_type(value)
        and value.producer is not None
        and find_constant_source(value.producer.operator) is None
        for graph in model.graphs
        for value in graph.values.values()
    )


def infer_shapes(model: Model, timeout: float = DEADLINE_SECONDS) -> Inference:
    """Infer the types of a model's values, once; each is then its ``inferred_type``.

    Whoever watches may end it about every 50 ms.

    Parameters
    ----------
    model
        The model.
    timeout
        Seconds after which onnx is stopped.

    Returns
    -------
    Inference
        What came of it.

    Raises
    ------
    InferenceError
        Where onnx is not installed, refuses the model or crashes on it, or needs more time or
        memory than it may have; and where the model is not of ONNX or is not well formed.
    SourceChangedError
        Where the file is no longer as it was when it was opened.
    """
    done = get_kept(model, Inference)
    if done is not None and done.version:
        return done
    if model.can_infer_shapes and not is_installed():
        raise InferenceError(
            f"{model.source}: shapes are inferred by onnx, which is not installed. "
            "Install it with: pip install onnx."
        )
    skeleton = write_skeleton(model)
    answer = run_worker(skeleton.data, timeout)
    if not answer.is_main_done:
        raise InferenceError(_explain_failure(model, skeleton, answer, timeout))
    step("reading types")
    found = _sort(skeleton, answer.graphs)
    inference = Inference(
        answer.version,
        "" if answer.is_done else "onnx was stopped before it came to the end of the functions",
        tuple(_list_warnings(skeleton, answer)),
    )
    with _giving:
        for graph, types in found.items():
            give_inferred_types(graph, types)
        keep(model, inference)
        forget_warnings(model)
    return inference


def note_problem(model: Model, problem: str) -> None:
    """Note why the types that a model does not state are not known, until they are.

    An empty text takes back what was noted.
    """
    with _giving:
        done = get_kept(model, Inference)
        if done is None or not done.version:
            forget_kept(model, Inference)
            if problem:
                keep(model, Inference(problem=problem))


def _sort(skeleton: Skeleton, messages: Iterable[bytes]) -> dict[Graph, dict[str, ValueType]]:
    """Return the types by graph and key, those that say more than the file does."""
    found: dict[Graph, dict[str, ValueType]] = {}
    for number, (value, inferred) in enumerate(read_inferred_types(skeleton, messages)):
        if not number % _STEP:
            step()
        stated = value.type
        if stated is None or (inferred != stated and _refines(inferred, stated)):
            # with the key that the value has, of which there is no second one then
            found.setdefault(value.graph, {})[value.key] = inferred
    return found


def _refines(inferred: ValueType, stated: ValueType) -> bool:
    """Return whether a type says all that another one does, apart from names of sizes."""
    if not isinstance(inferred, TensorType | SparseTensorType) or type(inferred) is not type(
        stated
    ):
        return False
    if inferred.dtype != stated.dtype and stated.dtype.name != "undefined":
        return False
    if stated.shape is None:
        return True
    if inferred.shape is None or len(inferred.shape) != len(stated.shape):
        return False
    return all(map(_fits, inferred.shape, stated.shape))


def _fits(inferred: Dimension, stated: Dimension) -> bool:
    if isinstance(stated.value, int):
        return inferred.value == stated.value
    return not stated.value or isinstance(inferred.value, int) or inferred.value == stated.value


def _list_warnings(skeleton: Skeleton, answer: Answer) -> Iterable[ModelWarning]:
    for number, index, text in answer.notes:
        if number < len(skeleton.graphs) and index < len(skeleton.graphs[number].nodes):
            node = skeleton.graphs[number].nodes[index]
            message = f"does not give what the file states, as onnx {answer.version} has it: "
            yield ModelWarning(node.path, message + clip_text(text, _LONGEST_REASON))


def _explain_failure(model: Model, skeleton: Skeleton, answer: Answer, timeout: float) -> str:
    if answer.missing:
        reason = clip_text(answer.missing, _LONGEST_REASON)
        return (
            f"{model.source}: shapes are inferred by onnx, which cannot be imported ({reason}). "
            "Install it anew with: pip install --force-reinstall onnx."
        )
    if answer.is_late:
        return (
            f"{model.source}: onnx took longer than {timeout:g} s to infer shapes and was stopped. "
            "Give it more time with infer_shapes(timeout=…)."
        )
    if answer.error:
        reason = clip_text(" ".join(answer.error.split()), _LONGEST_REASON)
        return (
            f"{model.source}: onnx {answer.version} cannot infer its shapes ({reason}). "
            "See what onnx.checker says of the model."
        )
    return (
        f"{model.source}: onnx crashed or ran out of memory while it inferred shapes on "
        f"{write_bytes(len(skeleton.data))} without weights. Try another version of onnx."
    )
