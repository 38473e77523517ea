"""What can go wrong, as a small tree under :class:`NetloupeError`.

Every message names the file or the element concerned and says what to do about it.
"""


class NetloupeError(Exception):
    """The base of every error that netloupe raises on purpose."""

    #: see :func:`advise_in_shell`; "" where the message says all
    _in_shell = ""


def advise_in_shell(error: NetloupeError, advice: str) -> None:
    """Say what to do about an error in the words of the command line.

    The command line says it after the message; elsewhere it would name commands that nobody has at
    hand.
    """
    error._in_shell = advice  # noqa: SLF001 - nothing that whoever catches an error looks for


def find_shell_advice(error: NetloupeError) -> str:
    """Return what to do about an error in the words of the command line; "" for no more."""
    return error._in_shell  # noqa: SLF001 - as above


class SourceError(NetloupeError):
    """The source cannot be read at all: missing, a directory, a device, not permitted."""


class ModelFormatError(NetloupeError):
    """The bytes were read, but they are no model that netloupe knows."""


class ArgumentError(NetloupeError, TypeError):
    """An argument is of a type that a public function does not take; the message says of which."""


class NotFoundError(NetloupeError, LookupError):
    """No element of the model has the path or name that was asked for."""


class BindingError(NetloupeError, ValueError):
    """Sizes were given to symbols that a model does not have, or that are no sizes."""


class CopyError(NetloupeError, TypeError):
    """A model or a part of it was to be copied or pickled; it can be loaded anew instead."""


class TensorDataError(NetloupeError):
    """A tensor's elements cannot be given: absent, too short, external and not allowed."""


class SourceChangedError(SourceError, TensorDataError):
    """A file is no longer as it was when it was opened: load the model again."""


class ReadingError(ModelFormatError, TensorDataError):
    """An element cannot be read for a reason that no reader foresaw; the message names it."""


class CompareError(NetloupeError, ValueError):
    """Two models were to be compared in a way that is not known."""


class ViewError(NetloupeError, ValueError):
    """A view was asked for with an option that it does not know, or that does not fit."""


class InferenceError(NetloupeError):
    """Shapes cannot be inferred: onnx is not installed, refuses the model, or took too long."""


class CheckError(NetloupeError, ValueError):
    """A check was asked for with rules, a target, a baseline or settings that do not fit."""


class OverlayError(NetloupeError, ValueError):
    """Numbers to colour by cannot be read, do not fit together, or are asked for as none are."""


class NotesError(NetloupeError, ValueError):
    """Notes cannot be read, or not be written where they are kept; what was typed is not lost."""


class OperatorsError(NetloupeError, ValueError):
    """Operators were to be registered with entries that are wrong; all others are registered.

    Attributes
    ----------
    problems
        What is wrong, each as a line that names the file, the operator and what is allowed.
    """

    problems: tuple[str, ...] = ()


class LayoutError(NetloupeError):
    """The layout engine failed or ran out of time."""


class OutputError(NetloupeError):
    """A file cannot be written where it was asked for."""


class MissingPackageError(NetloupeError, ImportError):
    """Something needs a package that netloupe does without otherwise; the message names it."""
