"""Ways through what is open in an explorer, from Python: repetitions, names, back and forth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloupe.explorer.arguments import explain_methods
from netloupe.explorer.session.lookup import Selectable, path_of
from netloupe.explorer.session.reveal import reveal

if TYPE_CHECKING:
    from netloupe.explorer.session import Requests, Session
    from netloupe.explorer.session.views import Views


@explain_methods()
class Stepping:
    """The part of :class:`.explorer.Explorer` that changes and searches what is shown."""

    if TYPE_CHECKING:  # what it needs of the explorer
        _session: Session
        _views: Views
        _requests: Requests

    def unroll(self, element: Selectable) -> None:
        """Show all repetitions of a repeat beside each other, instead of one for all.

        Parameters
        ----------
        element
            The repeat or one of its repetitions, or the path of either.

        Raises
        ------
        NotFoundError
            Where there is no such element.
        ViewError
            Where it is no repeat.
        """
        with self._requests.wanted():
            self._requests.push(center=self._views.unroll(reveal(self._views, path_of(element))))

    def fold(self, element: Selectable) -> None:
        """Show one repetition of a repeat again, which stands for all.

        Parameters
        ----------
        element
            The repeat or its path.

        Raises
        ------
        NotFoundError
            Where there is no such element.
        ViewError
            Where it is no repeat.
        """
        with self._requests.wanted():
            self._requests.push(center=self._views.fold(reveal(self._views, path_of(element))).key)

    def unname(self, element: Selectable) -> None:
        """Say no more what a group is, where that is wrong, and open it; can be undone.

        Groups at the same place in other repetitions of a repeat lose their name too. It holds as
        long as the explorer lives; pictures take the same as the option ``unnamed``.

        Parameters
        ----------
        element
            The group or its path, or a kind of block such as ``Self-attention``: then no group
            is called so any more.

        Raises
        ------
        NotFoundError
            Where there is neither such an element nor such a block.
        ViewError
            Where nothing is said of the element.
        """
        with self._requests.wanted():
            if isinstance(element, str) and self._views.names_kind(element):
                self._session.unname_kind(element)
                self._requests.push()
                return
            target = reveal(self._views, path_of(element))
            self._requests.push(center=self._session.unname(target).path)

    def undo(self) -> bool:
        """Take back what was last opened, closed, stepped, grouped, focused, entered or unnamed.

        Returns
        -------
        bool
            Whether there was anything to take back.
        """
        return self._travel(-1)

    def redo(self) -> bool:
        """Do again what :meth:`undo` took back.

        Returns
        -------
        bool
            Whether there was anything to do again.
        """
        return self._travel(1)

    def _travel(self, by: int) -> bool:
        with self._requests.wanted():
            scene = self._requests.travel(by)
            if scene is not None:
                self._requests.push(scene, restore=True)
        return scene is not None

    def search(self, text: str, *, regex: bool = False) -> list[str]:
        """Return the paths of all groups, nodes, values and graphs that match, as the box does.

        Parameters
        ----------
        text, regex
            As for ``model.search``.

        Raises
        ------
        ViewError
            For an invalid regular expression.
        """
        with self._requests.lock:
            return [hit.path for hit in self._views.search(text, regex=regex)]
