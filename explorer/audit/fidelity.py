"""How near the numbers of a quantized weight are to those of its float twin.

W are the float numbers, What = s (q - z) what the codes stand for, E = W - What, b the bits. This
is fidelity of weights; how much accuracy it costs does not follow from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from netloupe.explorer.compare.references import Reference
from netloupe.explorer.quantization.quantized_elements import QuantizedElements
from netloupe.explorer.quantization.saturation import find_lowest_end
from netloupe.explorer.tensors import Walk, list_blocks

from .off_channels import find_factors, list_most_off

Numbers = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

#: of the uniform error of rounding to steps of 1 the standard deviation is 1 / sqrt(12)
_UNIFORM = 12.0
#: what is further out than half a step and this is clipped
_ROUNDING = 1e-3
#: so many elements are looked at at once: they stay in the cache
_PIECE = 2**16
#: of histograms that are compared
_MOST_BINS = 128
#: so many channels are told one by one, beside those that are most off
_MOST_CHANNELS = 64


@dataclass(frozen=True, slots=True)
class ChannelFidelity:
    """How near one output channel is to its twin.

    Parameters
    ----------
    channel
        Its index along the axis of output channels.
    sqnr_db, excess_error, max_step_error, clipped, mean_bias, ratio
        As of :class:`Fidelity`, of this channel alone.
    """

    channel: int
    sqnr_db: float
    excess_error: float | None
    max_step_error: float | None
    clipped: float
    mean_bias: float
    ratio: float

    @property
    def is_multiplied(self) -> bool:
        """Whether a factor explains nearly all of the error: nothing was clipped or exchanged."""
        return bool(find_factors(self.sqnr_db, self.ratio) > 0)


@dataclass(frozen=True, slots=True)
class Fidelity:
    """How near the numbers of a quantized weight are to those of its float twin.

    W are the float numbers, What = s (q - z) what the codes stand for, E = W - What, s the scale, b
    the bits of a code.

    Parameters
    ----------
    count
        How many weights were compared; those that are NaN or infinite are left out.
    nonfinite
        How many were left out, because they, or what their codes stand for, are NaN or infinite.
    sqnr_db
        ``20 log10(|W| / |E|)`` in dB, higher is better; infinite where nothing differs.
    ideal_sqnr_db
        What a uniform quantizer of b bits would reach for weights of this range: E has the variance
        ``(R / 2^b)^2 / 12``, R the range of each channel or block that shares a scale,
        ``2 max|W|`` of symmetric ones. None of code books and narrow floats.
    excess_error
        ``RMS(E) / (s / sqrt 12)``: 1 for rounding and nothing else, lower is better. Above 1.2
        weights were clipped or changed after training; None of code books and narrow floats.
    max_step_error
        ``max |E| / s``, lower is better: 0.5 at most for the nearest codes, 1 where each is one of
        the two nearest (AdaRound).
    cosine
        ``<W, What> / (|W| |What|)``, higher is better; None where one of them is all 0.
    relative_error
        ``|E| / |W|``, lower is better.
    clipped
        The share of weights outside the range that the codes can hold, 0 to 1, lower is better.
    zeroed
        The share of weights that are not 0 and have the code of 0.
    mean_bias
        ``mean(E) / mean |W|`` of the channel where it is the largest in magnitude; 0 is best.
    ratio
        ``<W, What> / <W, W>``: 1 where nothing was rescaled.
    channels
        How many output channels there are; 1 where their axis is not known.
    worst_channel, worst_channel_sqnr_db
        The channel with the lowest SQNR, and that.
    least_ratio, most_ratio
        The ratio of the channels, the smallest and the largest.
    per_channel_gain_db
        How much higher the SQNR would be with a scale for each output channel, symmetric and from
        the largest magnitude, as far as it was computed.
    kurtosis
        ``mean((W - m)^4) / mean((W - m)^2)^2``, m the mean of W: 3 for Gaussian weights, 1.8 for
        uniform ones. The higher, the fewer of the weights use most of the range (Pearson's
        definition, not less 3). None where all weights are equal.
    kl_nats
        ``sum p ln(p / q)`` in nats, lower is better, 0 where both have the same histogram: p of W,
        q of What, on common bins of equal width over all that the codes can stand for, as many
        as there are codes, 128 at most; what is outside counts in the last bin of its side, and
        half a weight more in each bin, so that none is empty (as TensorRT's calibrator compares
        histograms). It tells shapes of distributions apart and not which weight became which:
        one picture, and no measure of accuracy. None of code books and narrow floats.
    worst
        The channels with the lowest SQNR, at most 64 of them, then of all channels those that are
        off by the largest factor, most beyond rounding, and by most steps.
    """

    count: int
    nonfinite: int
    sqnr_db: float
    ideal_sqnr_db: float | None
    excess_error: float | None
    max_step_error: float | None
    cosine: float | None
    relative_error: float
    clipped: float
    zeroed: float
    mean_bias: float
    ratio: float
    channels: int
    worst_channel: int
    worst_channel_sqnr_db: float
    least_ratio: float
    most_ratio: float
    per_channel_gain_db: float | None = None
    kurtosis: float | None = None
    kl_nats: float | None = None
    worst: tuple[ChannelFidelity, ...] = field(default=(), repr=False)

    def as_channel(self) -> ChannelFidelity:
        """Return the whole as one channel, where channels are not known."""
        return ChannelFidelity(
            *(0, self.sqnr_db, self.excess_error, self.max_step_error, self.clipped),
            *(self.mean_bias, self.ratio),
        )


class Sums:
    """What is added up of a weight and its twin, for each output channel.

    Attributes
    ----------
    count, weight, weight_squares, magnitudes, decoded_squares, products, errors, error_squares
        n, sum W, sum W^2, sum |W|, sum What^2, sum W What, sum E, sum E^2.
    weight_cubes, weight_fourths
        sum W^3 and sum W^4 of all channels.
    step_squares
        sum s^2 / 12: what rounding alone would make of the squares of errors.
    clipped, zeroed
        How many.
    nonfinite
        How many are left out of all this, of all channels.
    largest_step
        max |E| / s.
    largest
        max |W|.
    """

    def __init__(self, channels: int) -> None:
        self.count: Counts = np.zeros(channels, np.int64)
        self.nonfinite = 0
        self.clipped: Counts = np.zeros(channels, np.int64)
        self.zeroed: Counts = np.zeros(channels, np.int64)
        self.weight: Numbers = np.zeros(channels)
        self.weight_squares: Numbers = np.zeros(channels)
        self.weight_cubes = 0.0
        self.weight_fourths = 0.0
        self.magnitudes: Numbers = np.zeros(channels)
        self.decoded_squares: Numbers = np.zeros(channels)
        self.products: Numbers = np.zeros(channels)
        self.errors: Numbers = np.zeros(channels)
        self.error_squares: Numbers = np.zeros(channels)
        self.step_squares: Numbers = np.zeros(channels)
        self.largest_step: Numbers = np.zeros(channels)
        self.largest: Numbers = np.zeros(channels)


class _Bins:
    """Histograms of a weight and of its twin, on bins of equal width over what codes stand for."""

    def __init__(self, quantized: QuantizedElements) -> None:
        self._low = self._width = 0.0
        self._counts: Counts | None = None
        if quantized.lowest is None or quantized.highest is None:
            return
        # a code stands for all that is rounded to it: half a step more on each side
        ends = np.array([[quantized.lowest - 0.5], [quantized.highest + 0.5]])
        reached = (ends - np.asarray(quantized.zero_point)) * np.asarray(quantized.scale)
        low, high = float(reached.min()), float(reached.max())
        if np.isfinite(low) and np.isfinite(high) and high > low:
            bins = int(min(max(quantized.levels, 1), _MOST_BINS))
            self._low, self._width = low, (high - low) / bins
            self._counts = np.zeros((2, bins), np.int64)

    def add(self, weights: Numbers, decoded: Numbers, good: Any) -> None:
        """Count float weights and what their codes stand for; those that are not good neither."""
        counts = self._counts
        if counts is None:
            return
        bins = counts.shape[1]
        for row, numbers in enumerate((weights, decoded)):
            chosen = numbers.reshape(-1) if good is True else numbers[good]
            places = chosen * (1 / self._width)
            places -= self._low / self._width
            np.maximum(places, 0, out=places)
            np.minimum(places, bins - 1, out=places)
            counts[row] += np.bincount(places.astype(np.intp), minlength=bins)

    def find_divergence(self) -> float | None:
        """Return sum p ln(p / q)."""
        if self._counts is None or not self._counts[0].any():
            return None
        p, q = self._counts + 0.5
        p, q = p / p.sum(), q / q.sum()
        return max(float((p * np.log(p / q)).sum()), 0.0)


class Measurement:
    """One reading of a quantized weight beside its twin.

    Parameters
    ----------
    reference
        The twin of the quantized weight.
    axis
        That of the output channels; None where it is not known.
    factors
        By channel what the twin is multiplied by before; None for nothing.
    factor_axis
        The axis along which these lie, where it is not that of the output channels.
    """

    def __init__(
        self,
        quantized: QuantizedElements,
        reference: Reference,
        axis: int | None,
        factors: Numbers | None = None,
        factor_axis: int | None = None,
    ) -> None:
        self.quantized = quantized
        self.reference = reference
        self.has_axis = axis is not None
        #: whether scales differ along the axis of the output channels
        self._scale_axis = axis is not None and quantized.axis == axis
        self.dims, self.axis = (
            (quantized.dims, axis) if axis is not None else ((1, quantized.codes.size), 0)
        )
        self._factors = factors
        self._factor_axis = axis if factor_axis is None else factor_axis
        self.sums = Sums(self.dims[self.axis])
        self._bins = _Bins(quantized)
        self._low: Numbers = np.full(quantized.units, np.inf)
        self._high: Numbers = np.full(quantized.units, -np.inf)

    def run(self) -> Measurement:
        """Read both once, in pieces."""
        blocks = [*list_blocks(self.dims, self.axis, _PIECE)]
        pieces = Walk(self.quantized.codes).pieces(span for span, _ in blocks)
        for codes, (span, (first, shape)) in zip(pieces, blocks, strict=True):
            self._add(
                codes, self.take_reference(*span), span, slice(first, first + shape[1]), shape
            )
        return self

    def take_reference(self, start: int, stop: int) -> Numbers:
        """Return elements of the twin, multiplied by the factors."""
        taken = self.reference.take(start, stop)
        if self._factors is None or self._factor_axis is None:
            return taken
        inner = 1
        for dim in self.quantized.dims[self._factor_axis + 1 :]:
            inner *= dim
        places = np.arange(start, stop, dtype=np.int64) // inner
        return taken * self._factors[places % self.quantized.dims[self._factor_axis]]

    @np.errstate(all="ignore")
    def _add(
        self,
        codes: npt.NDArray[Any],
        weights: Numbers,
        span: tuple[int, int],
        rows: slice,
        shape: tuple[int, int, int],
    ) -> None:
        quantized, sums = self.quantized, self.sums
        scale = quantized.lay_out(quantized.scale, span, shape, self._scale_axis)
        zero = quantized.lay_out(quantized.zero_point, span, shape, self._scale_axis)
        decoded = quantized.decode(codes.reshape(shape), scale, zero)
        weights = weights.reshape(shape)
        errors = weights - decoded
        squares = np.einsum("oci,oci->c", errors, errors)
        good: Any = True
        count: Any = shape[0] * shape[2]
        if not np.isfinite(squares).all():
            good = np.isfinite(weights) & np.isfinite(decoded)
            weights, decoded = np.where(good, weights, 0.0), np.where(good, decoded, 0.0)
            errors = weights - decoded
            squares = np.einsum("oci,oci->c", errors, errors)
            count = np.count_nonzero(good, axis=(0, 2))
            sums.nonfinite += good.size - int(count.sum())
        sums.count[rows] += count
        sums.error_squares[rows] += squares
        weight_squares = weights * weights
        sums.weight[rows] += np.einsum("oci->c", weights)
        sums.weight_squares[rows] += np.einsum("oci->c", weight_squares)
        sums.weight_cubes += float(np.einsum("oci,oci->", weights, weight_squares))
        sums.weight_fourths += float(np.einsum("oci,oci->", weight_squares, weight_squares))
        self._bins.add(weights, decoded, good)
        sums.decoded_squares[rows] += np.einsum("oci,oci->c", decoded, decoded)
        sums.products[rows] += np.einsum("oci,oci->c", weights, decoded)
        sums.errors[rows] += errors.sum(axis=(0, 2))
        is_zero = decoded == 0
        if is_zero.any():
            is_zero &= (weights != 0) & good
            sums.zeroed[rows] += np.count_nonzero(is_zero, axis=(0, 2))
        np.abs(errors, out=errors)
        magnitudes = np.abs(weights)
        sums.magnitudes[rows] += magnitudes.sum(axis=(0, 2))
        np.maximum(sums.largest[rows], magnitudes.max(axis=(0, 2)), out=sums.largest[rows])
        if quantized.lowest is None or quantized.highest is None:
            return
        self._add_steps(codes.reshape(shape), errors, np.abs(scale), rows, count)
        self._widen(weights, span, shape, rows)

    def _add_steps(
        self,
        codes: npt.NDArray[Any],
        errors: Numbers,
        step: Any,
        rows: slice,
        count: Any,
    ) -> None:
        """Add what is measured in steps: of errors in magnitude, shape [outer, channels, inner]."""
        quantized, sums = self.quantized, self.sums
        shape = errors.shape
        uniform = step * step / _UNIFORM
        if np.ndim(step) == 3 and np.shape(step)[::2] != (1, 1):
            sums.step_squares[rows] += uniform.sum(axis=(0, 2)) * (
                count / (np.shape(step)[0] * np.shape(step)[2])
            )
        else:
            sums.step_squares[rows] += np.broadcast_to(np.reshape(uniform, -1), shape[1]) * count
        errors /= step
        most = np.fmax.reduce(errors, axis=(0, 2))
        np.fmax(sums.largest_step[rows], most, out=sums.largest_step[rows])
        if not (most > 0.5 + _ROUNDING).any():
            return
        assert quantized.lowest is not None  # noqa: S101 - the caller has looked
        assert quantized.highest is not None  # noqa: S101
        is_symmetric = quantized.is_symmetric
        bottom = find_lowest_end(quantized.lowest, quantized.highest, is_symmetric=is_symmetric)
        is_end = (codes <= bottom) | (codes >= quantized.highest)
        sums.clipped[rows] += np.count_nonzero(is_end & (errors > 0.5 + _ROUNDING), axis=(0, 2))

    def _widen(
        self, weights: Numbers, span: tuple[int, int], shape: tuple[int, int, int], rows: slice
    ) -> None:
        """Note the ranges of what shares a scale."""
        quantized = self.quantized
        if quantized.units == 1:
            self._low[0] = min(self._low[0], weights.min(initial=np.inf))
            self._high[0] = max(self._high[0], weights.max(initial=-np.inf))
        elif self._scale_axis and not quantized.block_size:
            np.minimum(self._low[rows], weights.min(axis=(0, 2)), out=self._low[rows])
            np.maximum(self._high[rows], weights.max(axis=(0, 2)), out=self._high[rows])
        elif (units := quantized.find_whole_blocks(*span)) is not None:
            blocks = weights.reshape(-1, quantized.block_size or 1)
            np.minimum(self._low[units], blocks.min(axis=1), out=self._low[units])
            np.maximum(self._high[units], blocks.max(axis=1), out=self._high[units])
        else:
            places = quantized.find_units(*span)
            flat = weights.reshape(-1)
            np.minimum.at(self._low, places, flat)
            np.maximum.at(self._high, places, flat)

    def find_ideal(self) -> float | None:
        """Return what a uniform quantizer would reach: 10 log10(sum W^2 / sum n R^2 / 12 / 4^b)."""
        quantized = self.quantized
        if quantized.lowest is None or quantized.highest is None:
            return None
        low, high = np.minimum(self._low, 0.0), np.maximum(self._high, 0.0)
        widths = 2 * np.maximum(-low, high) if quantized.is_symmetric else high - low
        widths = np.where(np.isfinite(widths), widths, 0.0)
        each = quantized.codes.size / quantized.units  # all of the same size, but for a last block
        noise = float((widths * widths).sum()) * each / quantized.levels**2 / _UNIFORM
        return _decibel(float(self.sums.weight_squares.sum()), noise)

    def summarize(self, gain: float | None = None) -> Fidelity:
        """Return what was measured."""
        sums, total = self.sums, max(int(self.sums.count.sum()), 1)
        weight, error = float(sums.weight_squares.sum()), float(sums.error_squares.sum())
        decoded, product = float(sums.decoded_squares.sum()), float(sums.products.sum())
        has_steps = self.quantized.lowest is not None
        with np.errstate(all="ignore"):
            bias = np.nan_to_num(sums.errors / sums.magnitudes)
            ratios = sums.products / sums.weight_squares
            by_channel = 10 * np.log10(sums.weight_squares / sums.error_squares)
        by_channel = np.where(sums.error_squares > 0, by_channel, np.inf)
        lowest = int(np.argmin(by_channel))
        known = ratios[np.isfinite(ratios)]
        steps = float(sums.step_squares.sum())
        return Fidelity(
            count=int(sums.count.sum()),
            nonfinite=sums.nonfinite,
            sqnr_db=_decibel(weight, error),
            ideal_sqnr_db=self.find_ideal(),
            excess_error=(error / steps) ** 0.5 if has_steps and steps else None,
            max_step_error=float(sums.largest_step.max()) if has_steps else None,
            cosine=product / (weight * decoded) ** 0.5 if weight and decoded else None,
            relative_error=(error / weight) ** 0.5 if weight else (np.inf if error else 0.0),
            clipped=int(sums.clipped.sum()) / total,
            zeroed=int(sums.zeroed.sum()) / total,
            mean_bias=float(bias[np.abs(bias).argmax()]),
            ratio=product / weight if weight else float("nan"),
            channels=len(bias),
            worst_channel=lowest,
            worst_channel_sqnr_db=float(by_channel[lowest]),
            least_ratio=float(known.min()) if known.size else float("nan"),
            most_ratio=float(known.max()) if known.size else float("nan"),
            per_channel_gain_db=gain,
            kurtosis=self._find_kurtosis(),
            kl_nats=self._bins.find_divergence(),
            worst=tuple(
                self._describe_channel(
                    int(channel), float(by_channel[channel]), float(bias[channel])
                )
                for channel in (self._choose(by_channel, ratios) if self.has_axis else ())
            ),
        )

    @np.errstate(all="ignore")
    def _choose(self, sqnr: Numbers, ratios: Numbers) -> list[int]:
        """Return the channels that are told: the worst, and those that tell whether any is off."""
        sums, has_steps = self.sums, self.quantized.lowest is not None
        excess = np.sqrt(sums.error_squares / sums.step_squares) if has_steps else None
        steps = sums.largest_step if has_steps else None
        order = np.argsort(sqnr, kind="stable")[:_MOST_CHANNELS].tolist()
        return [*dict.fromkeys((*order, *list_most_off(sqnr, excess, steps, ratios)))]

    def _find_kurtosis(self) -> float | None:
        sums, count = self.sums, int(self.sums.count.sum())
        if not count:
            return None
        mean = float(sums.weight.sum()) / count
        square = float(sums.weight_squares.sum()) / count
        variance = square - mean * mean
        if variance <= square * 1e-12:  # what is left is rounding
            return None
        cube, fourth = sums.weight_cubes / count, sums.weight_fourths / count
        return (fourth - 4 * mean * cube + 6 * mean**2 * square - 3 * mean**4) / variance**2

    def _describe_channel(self, channel: int, sqnr: float, bias: float) -> ChannelFidelity:
        sums = self.sums
        steps, weight = float(sums.step_squares[channel]), float(sums.weight_squares[channel])
        has_steps = self.quantized.lowest is not None
        return ChannelFidelity(
            channel,
            sqnr,
            (float(sums.error_squares[channel]) / steps) ** 0.5 if has_steps and steps else None,
            float(sums.largest_step[channel]) if has_steps else None,
            int(sums.clipped[channel]) / max(int(sums.count[channel]), 1),
            bias,
            float(sums.products[channel]) / weight if weight else float("nan"),
        )

    def find_gain(self) -> float | None:
        """Return by how many dB a scale for each output channel would raise the SQNR.

        The twin is quantized anew: symmetric, s_c = max |W_c| / (2^(b-1) - 1). None where the
        channels are not known, or scales differ already.
        """
        quantized, sums = self.quantized, self.sums
        if quantized.units != 1 or not self.has_axis or quantized.lowest is None:
            return None
        assert quantized.highest is not None  # noqa: S101 - both are known or none
        top = (quantized.highest - quantized.lowest) // 2
        if top < 1:
            return None
        scales = np.where(sums.largest > 0, sums.largest, 1.0) / top
        noise = 0.0
        for (start, stop), (first, shape) in list_blocks(self.dims, self.axis, _PIECE):
            weights = np.nan_to_num(self.take_reference(start, stop)).reshape(shape)
            steps = scales[first : first + shape[1]].reshape(1, -1, 1)
            errors = weights - np.rint(weights / steps) * steps
            noise += float((errors * errors).sum())
        weight = float(sums.weight_squares.sum())
        return _decibel(weight, noise) - _decibel(weight, float(sums.error_squares.sum()))


def _decibel(signal: float, noise: float) -> float:
    """Return 10 log10(signal / noise) of two sums of squares; infinite without noise."""
    if not noise:
        return float("inf")
    return 10 * float(np.log10(signal / noise)) if signal else float("-inf")


def measure_fidelity(
    quantized: QuantizedElements,
    reference: Reference,
    axis: int | None,
    factors: Numbers | None = None,
    factor_axis: int | None = None,
) -> Measurement:
    """Compare a quantized weight with its twin; parameters as of :class:`Measurement`."""
    return Measurement(quantized, reference, axis, factors, factor_axis).run()
