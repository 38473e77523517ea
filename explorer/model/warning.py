"""What is odd in a file, attached to the element where it was found."""

from typing import NamedTuple


class ModelWarning(NamedTuple):  # of which there may be a million
    """Something contradictory or unknown that did not keep the model from opening.

    Parameters
    ----------
    path
        The path of the element concerned.
    message
        What is odd, in one sentence.
    """

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"
