"""What follows from types and shapes without computing: the types that a file leaves out.

Nothing here reads weights, groups or pictures.
"""
