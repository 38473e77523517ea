"""Find what is in a model by words: nodes, values, groups and parts of paths.

A model and words come in, hits with their paths go out. Nothing here knows who asks.
"""
