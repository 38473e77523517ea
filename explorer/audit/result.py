"""What an audit says: plain data without a model behind it, which pickles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from netloupe.explorer.checks import Finding
from netloupe.explorer.dataframes import make_dataframe
from netloupe.explorer.quantization.codes import CodeFacts

from .coverage import Coverage
from .fidelity import Fidelity
from .islands import FloatIsland

if TYPE_CHECKING:
    import pandas

#: compared with a twin as it is; compared after a factor for each channel; compared as it is, where
#: one factor lies between the two; not compared, as the twin has other numbers wherever as many
#: are; not compared, for another reason; no twin was given
State = Literal["paired", "rescaled", "multiplied", "other numbers", "not comparable", "no twin"]


#: why weights were not compared with those of a twin
NO_TWIN = "no float model was given"


@dataclass(frozen=True, slots=True)
class WeightAudit:
    """One quantized weight.

    Parameters
    ----------
    path
        Of the stored tensor.
    node, op_type
        The first node that takes it: its path and operator; "" where nothing does.
    scheme
        How the file holds it.
    storage, bits
        The type of the codes, and the bits of each.
    dims, size
        The shape of the codes, and how many there are.
    granularity, axis, block_size
        How many share a scale.
    bits_per_weight
        (codes + scales + zero points) * 8 / size; None where that is not known.
    is_bias
        Whether it is a bias, of 32 bits.
    output_axis
        The axis of its output channels; None where it is not known.
    codes
        What the codes are like; None where they cannot be counted.
    state
        Whether it was compared with a float twin.
    reason
        Why not, or what could not be read; "" for nothing.
    reference, order, found_by
        The twin's path, in which order it has its elements, and what led to it: ``"node"``,
        ``"name"``, ``"value"`` or ``"own"``.
    reference_dtype
        The type of the twin's numbers, whose own rounding is no error of the codes; "" where none.
    expected
        The path of the float weight that its name leads to, where that has other numbers and
        ``reference`` is the one that has its own; "" where the name does not say otherwise.
    is_turned
        Whether its operator sums over its other axis than that of the twin does: it lies
        transposed against it.
    rescaled_by, rescaled_axis
        The smallest and the largest factor between twin and codes, where they were rescaled;
        along ``rescaled_axis``, None for one factor, after which ``fidelity`` is not measured.
    fidelity
        How near the codes are to the twin; None where it was not compared.
    """

    path: str
    node: str
    op_type: str
    scheme: str
    storage: str
    bits: float | None
    dims: tuple[int, ...]
    size: int
    granularity: str
    axis: int | None
    block_size: int | None
    bits_per_weight: float | None
    is_bias: bool
    output_axis: int | None
    codes: CodeFacts | None
    state: State
    reason: str = ""
    reference: str = ""
    order: str = ""
    found_by: str = ""
    reference_dtype: str = ""
    expected: str = ""
    is_turned: bool = False
    rescaled_by: tuple[float, float] | None = None
    rescaled_axis: int | None = None
    fidelity: Fidelity | None = None


@dataclass(frozen=True, slots=True)
class Unchecked:
    """Something that was not looked at, and why.

    Parameters
    ----------
    what
        What was not looked at.
    reason
        Why not.
    count
        How many such things there are.
    """

    what: str
    reason: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class QuantizationAudit:
    """How a model is quantized, what is wrong with it, and how near it is to a float twin.

    Parameters
    ----------
    source, reference
        What the user calls the models; "" without a twin.
    verdict
        All of it in a few sentences.
    coverage
        How much is quantized.
    defects
        What the rules of quantization found, the worst first; those marked as suppressed that a
        note beside the model accepts.
    islands
        Where it computes in floats in between, those first that cost most.
    weights
        Each quantized weight.
    unchecked
        What was not looked at, and why.
    """

    source: str
    reference: str
    verdict: str
    coverage: Coverage
    defects: tuple[Finding, ...]
    islands: tuple[FloatIsland, ...]
    weights: tuple[WeightAudit, ...]
    unchecked: tuple[Unchecked, ...]

    @property
    def paired(self) -> list[WeightAudit]:
        """The weights that were compared with a twin, biases left out."""
        return [one for one in self.weights if one.fidelity is not None and not one.is_bias]

    def to_dataframe(self) -> pandas.DataFrame:
        """Return a table of the weights, a row each, as pandas has it.

        Raises
        ------
        MissingPackageError
            Where pandas is not installed.
        """
        rows = [flatten_weight(one) for one in self.weights]
        return make_dataframe({name: [row[name] for row in rows] for name in COLUMNS})

    def __repr__(self) -> str:
        return f"<QuantizationAudit of {self.source}: {self.verdict}>"


_OWN = (
    *("path", "node", "op_type", "scheme", "storage", "bits", "dims", "size", "granularity"),
    *("axis", "block_size", "bits_per_weight", "is_bias", "output_axis", "state", "reason"),
    *("reference", "order", "found_by", "reference_dtype", "expected", "is_turned"),
    *("rescaled_by", "rescaled_axis"),
)
_OF_FIDELITY = tuple(name for name in Fidelity.__dataclass_fields__ if name != "worst")
_OF_CODES = (
    *("used_span", "effective_bits", "entropy", "ended"),
    *(name for name in CodeFacts.__dataclass_fields__ if name not in ("size", "entropy")),
)
#: the columns of the table: those of the twin as they are, those of codes behind ``codes_``
COLUMNS = [*_OWN, *_OF_FIDELITY, *(f"codes_{name}" for name in _OF_CODES)]


def flatten_weight(one: WeightAudit) -> dict[str, Any]:
    """Return a weight as a row: a number or text for each of :data:`COLUMNS`."""
    row: dict[str, Any] = {name: getattr(one, name) for name in _OWN}
    for name in _OF_FIDELITY:
        row[name] = None if one.fidelity is None else getattr(one.fidelity, name)
    for name in _OF_CODES:
        row[f"codes_{name}"] = None if one.codes is None else getattr(one.codes, name)
    return row
