"""The architecture of a model in words: what the field calls it, its blocks and its sizes.

A model comes in; a sentence, a family, blocks and sizes go out, from how nodes are wired, and
from the groups of the picture where it names them. Nothing else here reads names.
"""

from .architecture import Architecture, ArchitectureBlock, describe_architecture, tell_in_words

__all__ = ["Architecture", "ArchitectureBlock", "describe_architecture", "tell_in_words"]
