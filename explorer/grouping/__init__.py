"""Groups over the nodes of a graph: what belongs together and is opened and closed as one.

A graph goes in, a tree of groups comes out. Groups are found from what exporters leave in
names and metadata, and from structure where that says nothing; nothing here knows what is open
or shown.
"""

from typing import TYPE_CHECKING

from netloupe.explorer.later import import_later

if TYPE_CHECKING:
    from .group import Group
    from .lookup import find_group, find_tree
    from .member_nodes import list_nodes_inside
    from .model_group import ModelGroup, group_model
    from .module_input_nodes import PASSING_TRAITS
    from .recognised import recognise_function
    from .scopes import list_classes, read_module_path
    from .tree import GroupTree, build_group_tree
    from .unnamed import leave_unnamed
else:
    __getattr__ = import_later(
        __name__,
        {
            "module_input_nodes": ["PASSING_TRAITS"],
            "group": ["Group"],
            "lookup": ["find_group", "find_tree"],
            "member_nodes": ["list_nodes_inside"],
            "model_group": ["ModelGroup", "group_model"],
            "recognised": ["recognise_function"],
            "scopes": ["list_classes", "read_module_path"],
            "tree": ["GroupTree", "build_group_tree"],
            "unnamed": ["leave_unnamed"],
        },
    )

__all__ = [
    "PASSING_TRAITS",
    "Group",
    "GroupTree",
    "ModelGroup",
    "build_group_tree",
    "find_group",
    "find_tree",
    "group_model",
    "leave_unnamed",
    "list_classes",
    "list_nodes_inside",
    "read_module_path",
    "recognise_function",
]
