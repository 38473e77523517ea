"""What a page holds that stands alone: everything the explorer shows, made beforehand.

Such a page has no kernel that could answer. The inside of every group is laid out once, and the
page itself puts together what is open.
"""
