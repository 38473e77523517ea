"""The architecture of a model in words: what the field calls it, its blocks and its sizes.

A model comes in; a sentence, a family, blocks and sizes go out, from how nodes are wired alone.
Nothing here reads names, and nothing here knows what is shown.
"""

from .architecture import Architecture, ArchitectureBlock, describe_architecture

__all__ = ["Architecture", "ArchitectureBlock", "describe_architecture"]
