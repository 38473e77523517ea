"""Tables of sines among weights, as short-time Fourier transforms are exported."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Tensor

#: rows of zeros that such a table may have: those of frequency 0 and of half the length
_MOST_SINES = 2
#: larger tables are not read again; shorter rows tell nothing
_MOST_OF_TABLE, _LEAST_OF_SINE = 2**24, 16
#: so many rows are looked at, and so much of the energy of each is that of one sine
_SINES_SEEN, _OF_ONE_SINE = 64, 0.99


def is_sine_table(tensor: Tensor, dead: npt.NDArray[np.bool_]) -> bool:
    """Return whether rows are sines of a Fourier transform: that of frequency 0 is all zero.

    Of each row all but nothing of the energy is at one frequency, and beside it with a window.

    Parameters
    ----------
    tensor
        A weight.
    dead
        By output channel whether all of it is zero.
    """
    if int(np.count_nonzero(dead)) > _MOST_SINES or tensor.size > _MOST_OF_TABLE or dead.all():
        return False
    try:
        numbers = tensor.numpy().astype(np.float64)
    except NetloupeError:
        return False
    axis = next((axis for axis, size in enumerate(numbers.shape) if size == dead.size), 0)
    rows = np.moveaxis(numbers, axis, 0).reshape(dead.size, -1)[~dead]
    if rows.shape[1] < _LEAST_OF_SINE:
        return False
    energy = np.abs(np.fft.rfft(rows[:: max(len(rows) // _SINES_SEEN, 1)], axis=1)) ** 2
    peaks = energy.argmax(axis=1)
    places = np.clip(peaks[:, None] + np.arange(-2, 3), 0, energy.shape[1] - 1)
    near = np.array(
        [row[np.unique(place)].sum() for row, place in zip(energy, places, strict=True)]
    )
    return bool((near > _OF_ONE_SINE * energy.sum(axis=1)).all())
