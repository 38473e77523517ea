"""Sparse tensors: the elements that are given, and where they stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from netloupe.explorer.notation import write_dims

from . import upper_rooms
from .array import ArrayLike
from .dtype import DataType
from .loaded import Loaded
from .storage import multiply_dims
from .tensor import Tensor
from .types import Dimension, SparseTensorType
from .unknown import UnknownFields
from .warning import ModelWarning


class SparseTensor(ArrayLike, Loaded):
    """A sparse constant: the non-default elements and where they stand.

    Parameters
    ----------
    values
        The elements that are given, shape [NNZ]; its name is the tensor's name.
    indices
        Shape [NNZ] (linear) or [NNZ, rank]; None where the file has none.
    dims
        The shape of the dense tensor.
    path
        Where the tensor is in the model.
    unknown_fields
        Fields that the schema does not know.
    """

    __slots__ = ("_warnings", "dims", "indices", "path", "unknown_fields", "values")

    def __init__(
        self,
        path: str,
        values: Tensor,
        indices: Tensor | None,
        dims: tuple[int, ...],
        warnings: tuple[ModelWarning, ...] = (),
        unknown_fields: UnknownFields = (),
    ) -> None:
        self.path = path
        self.values = values
        self.indices = indices
        self.dims = dims
        self._warnings = warnings
        self.unknown_fields = unknown_fields

    @property
    def warnings(self) -> tuple[ModelWarning, ...]:
        """What is odd about the tensor, its values and its indices."""
        of_indices = () if self.indices is None else self.indices.warnings
        return self._warnings + self.values.warnings + of_indices

    @property
    def name(self) -> str:
        """The name of ``values``, as the specification has it."""
        return self.values.name

    @property
    def dtype(self) -> DataType:
        """Element type."""
        return self.values.dtype

    @property
    def type(self) -> SparseTensorType:
        """The type of the value that holds this tensor."""
        return SparseTensorType(self.dtype, tuple(map(Dimension, self.dims)))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the dense tensor."""
        return self.dims

    @property
    def size(self) -> int:
        """Number of elements of the dense tensor; 0 where a dimension is negative."""
        return multiply_dims(self.dims)

    @property
    def nbytes(self) -> int | None:
        """Bytes of the stored values and indices."""
        index_bytes = self.indices.nbytes if self.indices else 0
        value_bytes = self.values.nbytes
        return None if value_bytes is None or index_bytes is None else value_bytes + index_bytes

    def numpy(self) -> np.ndarray[Any, Any]:
        """Build the dense array of shape ``dims``.

        Raises
        ------
        TensorDataError
            Where indices and values do not fit the dimensions.
        """
        return upper_rooms.decode_sparse_tensor(self)

    def __repr__(self) -> str:
        dims = write_dims(self.dims, 8)
        return f"<SparseTensor {self.name!r} {self.dtype}{dims}, {self.values.size} given>"


def move_sparse_tensor(
    tensor: SparseTensor, path: str, values: Tensor, indices: Tensor | None
) -> SparseTensor:
    """Return a sparse tensor at another path, with values and indices that are there already."""
    return SparseTensor(path, values, indices, tensor.dims, tensor._warnings, tensor.unknown_fields)
