"""The kinds of twins, and how one is made of a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

import onnx

from tests.compare.twins.folding import add_dead_nodes, add_norms, fold_constants, fold_norms
from tests.compare.twins.joining import join_projections
from tests.compare.twins.layers import double_layer, drop_layer, insert_layer
from tests.compare.twins.naming import change_names, shuffle_nodes
from tests.compare.twins.quantizing import halve, quantize
from tests.compare.twins.truth import Naming, Twin, finish_twin, tag_nodes
from tests.compare.twins.versions import raise_opset, retrain

#: changes a model, whose nodes have tags; gives nothing where there is nothing to change
Change: TypeAlias = Callable[[onnx.ModelProto, Random], onnx.ModelProto | None]


@dataclass(frozen=True)
class Kind:
    """What may be done to a model.

    Parameters
    ----------
    change
        Makes the right model of the left one.
    shift
        The same, and what names say of the numbers of layers is no more true.
    prepare
        What is done to both models before.
    namings
        What may happen to names besides.
    is_sure
        What is not found on the right is gone; else it may be anything.
    """

    name: str
    change: Change
    shift: Change | None = None
    prepare: Callable[[onnx.ModelProto, Random], None] | None = None
    namings: tuple[Naming, ...] = ("kept", "changed")
    is_sure: bool = True


def _as_it_is(model: onnx.ModelProto, chance: Random) -> onnx.ModelProto:
    return model


def _layer_kind(
    name: str, work: Callable[[onnx.ModelProto, Random, bool], onnx.ModelProto | None]
) -> Kind:
    return Kind(
        name,
        lambda model, chance: work(model, chance, False),
        lambda model, chance: work(model, chance, True),
        namings=("kept", "shifted", "changed"),
    )


_ALL = (
    Kind("itself", _as_it_is, namings=("kept",)),
    Kind("all names changed", _as_it_is, namings=("changed",)),
    Kind("nodes reordered", shuffle_nodes),
    Kind("constants folded", fold_constants, prepare=add_dead_nodes),
    Kind("norms folded", fold_norms, prepare=add_norms),
    Kind("projections joined", join_projections),
    Kind("quantized", quantize),
    Kind("float16", halve),
    Kind("opset raised", raise_opset, is_sure=False),
    _layer_kind("layer dropped", drop_layer),
    _layer_kind("layer doubled", double_layer),
    _layer_kind("layer inserted", insert_layer),
    Kind("retrained", retrain),
)
#: kinds of twins by name
KINDS = {kind.name: kind for kind in _ALL}


def make_twin(
    kind: str, model: onnx.ModelProto, naming: Naming = "kept", seed: int = 0
) -> Twin | None:
    """Return a twin of a model, the same for the same seed.

    Parameters
    ----------
    kind
        One of ``KINDS``.
    model
        What to make it of; it stays as it is.
    naming
        What happens to names besides; one of the kind's.

    Returns
    -------
    twin
        None where the model has nothing of which such a twin could be made.
    """
    how, chance = KINDS[kind], Random(seed)
    left, right = onnx.ModelProto(), onnx.ModelProto()
    left.CopyFrom(model)
    if how.prepare is not None:
        how.prepare(left, chance)
    tag_nodes(left)
    right.CopyFrom(left)
    change = how.shift if naming == "shifted" and how.shift is not None else how.change
    changed = change(right, chance)
    if changed is None:
        return None
    if naming == "changed":
        change_names(changed, chance)
    return finish_twin(kind, naming, left, changed, is_sure=how.is_sure)
