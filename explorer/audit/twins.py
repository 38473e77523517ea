"""Comparing one quantized weight with its float twin, as it is or after a factor per channel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from netloupe.explorer.compare.references import Reference
from netloupe.explorer.quantization.quantized_elements import QuantizedElements

from .fidelity import Fidelity, Measurement, measure_fidelity

Numbers = npt.NDArray[np.float64]

#: an excess error (or, without steps, a relative error) beyond this asks for another explanation
_LARGE_EXCESS, _LARGE_RELATIVE = 3.0, 0.3
#: factors are believed where they leave this share of the error, or less
_EXPLAINED = 0.25
#: factors that differ by less than this are one, and one that differs so from 1 is none
_ALIKE = 0.01
#: further from 1 than so many standard deviations of what rounding makes of it a factor is one
_DEVIATIONS = 4.0


class Comparison:
    """A quantized weight beside its twin.

    Attributes
    ----------
    fidelity
        How near they are: after the factors where these lie along an axis, else as they are.
    factors
        The smallest and the largest factor by which the twin had to be multiplied; None for none.
    factor_axis
        The axis along which they lie; None for one factor.
    """

    def __init__(
        self,
        fidelity: Fidelity,
        factors: tuple[float, float] | None = None,
        factor_axis: int | None = None,
    ) -> None:
        self.fidelity = fidelity
        self.factors = factors
        self.factor_axis = factor_axis


@np.errstate(all="ignore")
def compare_with_twin(
    quantized: QuantizedElements, reference: Reference, axis: int | None
) -> Comparison:
    """Compare a weight with its twin; where a factor per channel explains more, after it.

    A batch normalization folded into a convolution multiplies each output channel; equalisation
    across layers (Nagel et al. 2019) and smoothing of activations multiply input channels. One
    factor for all of a weight is none of these: scales are wrong, or the model divides elsewhere,
    and the numbers are told as they are. Nor are factors of a few channels, as of one whose scale
    is wrong or whose sign is turned, while most have their numbers.

    Parameters
    ----------
    quantized, reference
        The weight and its twin.
    axis
        That of the output channels; None where it is not known.
    """
    found = measure_fidelity(quantized, reference, axis)
    plain = found.summarize()
    if not _is_far(plain):
        return Comparison(replace(plain, per_channel_gain_db=found.find_gain()))
    for along in _list_axes(quantized, axis):
        base = found if along == axis else measure_fidelity(quantized, reference, along)
        factors = _find_factors(base)
        if factors is None:
            continue
        if not _are_rescaled(base, factors):
            continue
        other = measure_fidelity(quantized, reference, axis, factors, along)
        better = other.summarize()
        if not _is_far(better) and better.relative_error <= _EXPLAINED * plain.relative_error:
            low, high = float(factors.min()), float(factors.max())
            if _are_one(base, factors):
                plain = replace(plain, per_channel_gain_db=found.find_gain())
                return Comparison(plain, (low, high))
            gain = other.find_gain()
            return Comparison(replace(better, per_channel_gain_db=gain), (low, high), along)
    return Comparison(replace(plain, per_channel_gain_db=found.find_gain()))


def _is_far(fidelity: Fidelity) -> bool:
    """Return whether the numbers are further apart than rounding explains."""
    if fidelity.excess_error is None:
        return fidelity.relative_error > _LARGE_RELATIVE
    return fidelity.excess_error > _LARGE_EXCESS


def _list_axes(quantized: QuantizedElements, axis: int | None) -> list[int]:
    """Return the axes of output and of input channels; none of a bias, one number a channel."""
    rank = len(quantized.dims)
    if rank < 2:
        return []
    axes = [] if axis is None else [axis]
    axes += [each for each in (0, 1, rank - 1) if 0 <= each < rank]
    return [each for each in dict.fromkeys(axes) if quantized.dims[each] > 1]


def _are_rescaled(found: Measurement, factors: Numbers) -> bool:
    """Return whether more than half of the channels have a factor that rounding does not leave."""
    live, noise = _find_noise(found, factors)
    is_other = np.abs(factors - 1) > np.maximum(_ALIKE, _DEVIATIONS * noise)
    return 2 * int(np.count_nonzero(is_other & live)) > int(np.count_nonzero(live))


def _are_one(found: Measurement, factors: Numbers) -> bool:
    """Return whether all channels have one factor, but for what rounding leaves of it."""
    sums = found.sums
    live, noise = _find_noise(found, factors)
    whole = float(sums.products.sum()) / float(sums.weight_squares.sum())
    is_near = np.abs(factors - whole) <= np.maximum(_ALIKE * abs(whole), _DEVIATIONS * noise)
    return bool(np.all(is_near | ~live))


def _find_noise(found: Measurement, factors: Numbers) -> tuple[npt.NDArray[np.bool_], Numbers]:
    """Return which channels are not all 0, and how far off what is left of errors puts a factor."""
    sums = found.sums
    live = (sums.weight_squares > 0) & (sums.decoded_squares > 0)
    rest = np.maximum(sums.decoded_squares - factors**2 * sums.weight_squares, 0.0)
    with np.errstate(all="ignore"):
        noise = np.sqrt(rest / np.maximum(sums.count, 1) / sums.weight_squares)
        if found.quantized.lowest is None:  # errors of floats grow with the numbers
            squares = float(sums.weight_squares.sum())
            noise = noise * (float(sums.count.sum()) * sums.weight_fourths / squares**2) ** 0.5
    return live, np.nan_to_num(noise)


def _find_factors(found: Measurement) -> Numbers | None:
    """Return <W, What> / <W, W> of each channel; 1 of channels of zeros. None without meaning."""
    sums = found.sums
    with np.errstate(all="ignore"):
        factors = np.where(sums.weight_squares > 0, sums.products / sums.weight_squares, 1.0)
    factors = np.where(sums.decoded_squares > 0, factors, 1.0)
    return factors if np.isfinite(factors).all() else None
