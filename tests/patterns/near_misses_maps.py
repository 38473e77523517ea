"""Examples of maps and their places that lack one part of what they are."""

from __future__ import annotations

TEXT = """
[spatial-softmax]
places of a grid, one stands twice = Softmax · Linear 6 → 2
  0, 1, 1, 1}> => 0, 1, 0, 1}>
places at even distances = Softmax · Linear 6 → 2
  {-1, -1, 0, -1, 1, -1, -1, 1, 0, 1, 1, 1} => {-1, -1, 0.5, -1, 1, -1, -1, 1, 0.5, 1, 1, 1}
shares = tanh · Linear 6 → 2
  Softmax <axis = -1> (rows) => Tanh (rows)
[grid-scatter]
computed places
  (empty, each, features) => (empty, known, features)
  int64 first = {1} => int64[6, 1] known = {0, 1, 2, 3, 4, 5}, int64 first = {1}
  [row] row => row
  [column] column => column
  [wide] start => start
  [adds] index => index
  [each] each => each
a convolution of the grid
  y = Conv <pads = [1, 1, 1, 1]> (grid, w) => y = Relu (grid)
  float[1, 4, 16, 16] y => float[1, 8, 16, 16] y
[weighted-fusion]
shares that are 1 together
  float b = {0.6} => float b = {0.9}
maps of several sizes
  larger = Resize (coarse, , scales) => larger = Relu (coarse)
  float[1, 8, 8, 8] coarse => float[1, 8, 16, 16] coarse
[channel-shift]
channels that move back, both move forth
  s2 = Slice (sooner, b, c, channels) => s2 = Slice (later, b, c, channels)
one value
  rest = Slice (v, c, end, channels) => rest = Slice (z, c, end, channels)
  6, 6] x) => 6, 6] x, float[1, 4, 8, 6, 6] z)
"""
