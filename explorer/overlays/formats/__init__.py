"""Files with numbers of others: each format becomes columns, whatever of a model they are of.

A file's text goes in, :class:`~netloupe.explorer.overlays.column.Column` objects with the names
that stand in it come out. Files are untrusted: how much is read is bounded, and what does not fit
is an :class:`~netloupe.explorer.errors.OverlayError` that names the file and the place.
"""
