"""A list of graphs that are what a word means, each with one that resembles it and is not."""

from __future__ import annotations

from collections.abc import Callable

from tests.architecture.networks import Network

#: adds what a word means, or what resembles it, and returns the result
Build = Callable[[Network, bool], str]


class Resembling:
    """Pairs of graphs by the word that is said of the first alone."""

    def __init__(self) -> None:
        self.cases: dict[str, tuple[str, Build]] = {}

    def add(self, word: str) -> Callable[[Build], Build]:
        """Return what registers a builder of both graphs for a word."""

        def register(build: Build) -> Build:
            assert build.__name__ not in self.cases
            self.cases[build.__name__] = word, build
            return build

        return register
