"""Texts of a file that are not UTF-8."""


class EscapedText(str):
    r"""A text whose bytes are no UTF-8: those that are none are escapes like ``\xff``.

    Notes
    -----
    A name may well hold such an escape in the file itself; the class tells one from the other.
    """

    __slots__ = ()
