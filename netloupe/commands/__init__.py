"""The shell: arguments become calls of the explorer and the widgets, answers become text and files.

Everything that speaks to a terminal, its streams and its exit codes is here and nowhere else.
"""
