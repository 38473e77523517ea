"""What a loaded model consists of: it reads from its file and cannot be taken away from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from netloupe.explorer.errors import CopyError

if TYPE_CHECKING:
    from .model import Model


class Loaded:
    """Can be neither copied nor pickled, and says what to do instead.

    Notes
    -----
    Elements know each other and how to read the rest of the file. Half a copy would share lists
    with what it was made from; a pickle would have to hold the file.
    """

    __slots__ = ()

    def _find_model(self) -> Model | None:
        """Return the model that this belongs to; None where that is not known."""
        return None

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        kind = next(k.__name__ for k in type(self).__mro__ if not k.__name__.startswith("_"))
        model = self._find_model()
        source = "" if model is None else f"{model.source}: "
        file = "the file" if model is None or model.folder is None else repr(model.source)
        path = "" if self is model else f"[{self._write_path()!r}]"
        raise CopyError(
            f"{source}a {kind} cannot be copied or pickled, since it is read from its file when it "
            f"is asked for. Load it anew where it is needed: netloupe.load({file}){path}."
        )

    def _write_path(self) -> str:
        return str(getattr(self, "path", ""))
