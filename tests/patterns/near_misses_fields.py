"""Examples of patterns of series, molecules and tables that lack one part of what they are."""

from __future__ import annotations

TEXT = """
[edge-attention]
sums of the same exponentials
  (none, to, positive) => (none, to, scores)
a product with shares
  weighted = Mul (messages, shares) => weighted = Add (messages, shares)
a division
  Div (positive, of_edges) => Sub (positive, of_edges)
[coordinate-update]
one number for each edge
  float[64, 1] factor => float[64, 3] factor
differences
  apart = Sub (here, there) => apart = Add (here, there)
a sum with the places
  y = Add (places, total) => y = Mul (places, total)
[gaussian-basis]
squares = Formula, ReLU, exp
  square = Pow (apart, two) => square = Relu (apart)
several places = Formula, exp((x − 1)² · (−10))
  places = {0, 1, 2, 3, 4} => places = {1}
  float[5] places => float[1] places
  float[64, 5] y => float[64, 1] y
less for what is farther = Formula, square, exp
  narrow = {-10} => narrow = {10}
[bessel-basis]
a division by the distance
  y = Div (waves, distances) => y = Mul (waves, distances)
several frequencies
  frequencies = {0.6, 1.3, 1.9, 2.5} => frequencies = {0.6}
  float[4] frequencies => float[1] frequencies
  float[64, 4] y => float[64, 1] y
[series-decomposition]
the series less its average, the average less the series
  Sub (x, trend) => Sub (trend, x)
an average, the largest
  AveragePool => MaxPool
the same series
  (float[2, 7, 96] x) => (float[2, 7, 96] x, float[2, 7, 96] z)
  Sub (x, trend) => Sub (z, trend)
as many steps
  pads = [12, 12] => strides = [2], pads = [12, 12]
"""
