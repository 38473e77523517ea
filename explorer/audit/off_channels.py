"""Which channels of a weight are off by more than rounding, of all that it has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

#: beyond this the error of a weight is more than rounding (Nagel et al. 2020, AdaRound, and
#: corrected biases reach 1.3); that of one channel beyond twice as much
CHANGED_EXCESS = 1.2
#: a bias is changed beyond so many steps, unless it is as near as this, in dB
MOST_STEPS, EXACT = 1.0, 120.0
#: a factor explains an error of which it leaves this share, of the squares
EXPLAINED = 0.25**2


@np.errstate(all="ignore")
def find_beyond(sqnr_db: Any, steps: Any, most: float) -> Any:
    """Return which share of its numbers an error is beyond so many steps; 0 for none.

    Parameters
    ----------
    sqnr_db
        The error, from which its share of the numbers follows; one, or those of all channels.
    steps
        The error in steps, or in what rounding to them leaves.
    most
        So many steps are rounding.
    """
    share = np.power(10.0, np.negative(sqnr_db) / 20)
    return np.where(np.greater(steps, most), share * (1 - most / np.asarray(steps)), 0.0)


@np.errstate(all="ignore")
def find_factors(sqnr_db: Any, ratios: Any) -> Any:
    """Return how far from 1 the factor is that explains nearly all of an error; 0 for none.

    Nothing was clipped or exchanged then. Of E = W - What it leaves What - f W, whose square is
    ``|E|^2 - (1 - f)^2 |W|^2``.
    """
    apart = np.abs(np.subtract(ratios, 1))
    is_explained = apart**2 * np.power(10.0, np.asarray(sqnr_db) / 10) >= 1 - EXPLAINED
    return np.where(is_explained, apart, 0.0)


def list_most_off(
    sqnr_db: Numbers, excess: Numbers | None, steps: Numbers | None, ratios: Numbers
) -> Iterator[int]:
    """Yield the channels that tell whether any is off, whichever its SQNR: one for each measure.

    If that which is most off by a measure is off by rounding alone, so are all.

    Parameters
    ----------
    sqnr_db, excess, steps, ratios
        By channel, as of :class:`~.fidelity.ChannelFidelity`; None for what has no steps.
    """
    measures = [find_factors(sqnr_db, ratios)]
    if excess is not None:
        measures.append(find_beyond(sqnr_db, excess, 2 * CHANGED_EXCESS))
    if steps is not None:
        measures.append(np.where(sqnr_db < EXACT, find_beyond(sqnr_db, steps, MOST_STEPS), 0.0))
    for measure in measures:
        known = np.nan_to_num(measure, nan=0.0)
        if known.size and known.max() > 0:
            yield int(known.argmax())
