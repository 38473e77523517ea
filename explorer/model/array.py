"""Tensors as arrays of others: numpy's array protocol and DLPack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike

_CPU = (1, 0)  # kDLCPU and its only device (dlpack.h)


class ArrayLike:
    """Gives its elements to what takes arrays: ``np.asarray(tensor)``, ``torch.from_dlpack``.

    Notes
    -----
    Elements are read and decoded each time, which is a copy: who forbids copies is refused.
    """

    __slots__ = ()

    def numpy(self) -> np.ndarray[Any, Any]:
        """Decode the elements."""
        raise NotImplementedError

    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> np.ndarray[Any, Any]:
        """Return the elements as ``numpy()`` does, of another dtype where one is given.

        Parameters
        ----------
        dtype
            What to convert to, as by ``astype``; None for the dtype of ``numpy()``.
        copy
            True for an array that may be written to. False is refused (NumPy 2 migration
            guide, "Adapting to changes in the copy keyword"); NumPy 1 gives none.

        Raises
        ------
        TensorDataError
            Where the elements cannot be decoded.
        ValueError
            For ``copy=False``.
        """
        if copy is False:
            raise ValueError(
                "the elements of a tensor are read from its file, which is a copy. "
                "Leave copy out: np.asarray(tensor)."
            )
        array = self.numpy()
        if dtype is not None:
            array = array.astype(dtype, copy=False)
        return array.copy() if copy and not array.flags.writeable else array

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return the elements as a DLPack capsule without a version, which all can take.

        The parameters are those of the Python array API standard (2023.12).

        Raises
        ------
        TensorDataError
            Where the elements cannot be decoded.
        BufferError
            For element types that DLPack or numpy's share of it lacks (strings, bfloat16,
            float8 …), ``copy=False``, and devices other than the CPU.
        """
        if copy is False or dl_device not in (None, _CPU):
            raise BufferError(
                "the elements of a tensor are read from its file into memory: they cannot be "
                "given without a copy or on another device than the CPU."
            )
        array = self.numpy()
        if not array.flags.writeable:  # a capsule without a version cannot say that
            array = array.copy()
        return array.__dlpack__(stream=stream)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the CPU: elements are decoded into its memory."""
        return _CPU
