"""Everything without a user interface: from a model file to a picture.

A path goes in and passes ``readers``, ``model``, ``grouping``, ``view``, ``layout`` and
``render``, in this order; a model object, a Scene or an SVG comes out. Nothing here knows
of notebooks or widgets.
"""
