"""Stands for a package that builds a grammar for three seconds whenever jsonschema is imported.

Every Jupyter server and every reader of notebooks imports it. jsonschema takes it for not installed
then, and checks no addresses in other alphabets, of which our notebooks have none.
"""

raise ImportError("left out by the tests of netloupe")
