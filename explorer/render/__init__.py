"""Pictures: faces of boxes, colours, and the Scene as SVG, HTML, PNG, PDF or bytes for a canvas.

A Scene goes in with a theme, text or bytes come out. Every name from a model is escaped here.
Nothing here changes what is open or where a box stands.
"""
