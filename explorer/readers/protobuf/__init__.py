"""What the formats share that are written in protobuf, whatever their messages are.

A source goes in; a parsed message comes out, with its data left behind where they are large.
Nothing here knows a format.
"""
