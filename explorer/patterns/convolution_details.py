"""What is known of convolutions and of blocks of them; see `details`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .details import FeatureDetails


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class StridedDetails(FeatureDetails):
    """Of a block that may give fewer places than it takes.

    Parameters
    ----------
    stride
        Of so many places one is left along each axis, or along all; None for all places. Of a
        transposed convolution one becomes so many.
    """

    stride: int | tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ConvolutionDetails(StridedDetails):
    """Of a convolution, with its norm and activation.

    Parameters
    ----------
    kernel
        Its size along each axis, in places; nothing where that is not known.
    groups
        Into how many groups channels are put; None for one.
    dilation
        How many places apart the kernel reads, the most of all axes; None for 1.
    transposed
        Whether it is transposed: a deconvolution.
    form
        What its stored numbers tell: ``masked``, ``zero`` or ``blurring``; ``zero at the start`` of
        a residual branch that begins so; ``sinc`` of filters that are computed of frequencies;
        ``multi-branch`` of several whose sum is one; "" for others.
    """

    json_first: ClassVar[tuple[str, ...]] = ("in_features", "out_features", "kernel")

    kernel: tuple[int, ...] = ()
    groups: int | None = None
    dilation: int | None = None
    transposed: bool = False
    form: str = ""

    @property
    def is_pointwise(self) -> bool:
        """Whether it is a linear layer at each place."""
        return {*self.kernel} == {1} and self.groups is None

    @property
    def is_depthwise(self) -> bool:
        """Whether it takes each channel alone, as far as is known."""
        return self.groups is not None and self.groups == self.in_features

    @property
    def is_along_one_axis(self) -> bool:
        """Whether the kernel is longer than 1 along one axis at most."""
        return bool(self.kernel) and (len(self.kernel) == 1 or min(self.kernel) == 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SeparableDetails(ConvolutionDetails):
    """Of a depthwise convolution and pointwise ones around it, together.

    Kernel and stride are those of the depthwise one, features those of all.
    """

    json_first: ClassVar[tuple[str, ...]] = ("kernel", "stride")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ResidualDetails(StridedDetails):
    """Of a block of convolutions that is added to what it takes.

    Parameters
    ----------
    projection
        Whether what it takes is convolved before that.
    skip
        Whether features of a UNet's contracting path are joined with what it takes.
    enlarges
        Whether it gives more places than it takes: of one become as many as the stride says.
    """

    projection: bool = False
    enlarges: bool = False
    skip: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ResamplingDetails(FeatureDetails):
    """Of what makes pictures larger or smaller: up- and downsampling, pixel shuffles, pyramids.

    Parameters
    ----------
    factor
        How many times larger or smaller height and width become.
    skip
        As of a residual block.
    """

    json_first: ClassVar[tuple[str, ...]] = ("factor", "skip")

    factor: int | None = None
    skip: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DenseDetails(FeatureDetails):
    """Of a layer of a DenseNet.

    Parameters
    ----------
    growth
        How many channels it adds to those that it takes.
    """

    growth: int | None = None
