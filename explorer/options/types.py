"""The types of options that are choices or numbers, as the tables list them."""

from __future__ import annotations

from typing import Literal

Background = Literal["theme", "white", "transparent"]
Details = Literal["facts", "all"]
Direction = Literal["TB", "LR"]
Expand = int | Literal["auto", "all", "none"]
Grouping = Literal["auto", "names", "modules", "repeats", "none"]
Share = Literal["auto", "parameters", "macs", "bytes", "none"]
PageName = Literal["none", "a4", "letter", "slide", "column"]
ThemeName = Literal["light", "dark"]
WeightContent = Literal["histograms", "none"]
#: whether, how, or into how many columns
Wrap = bool | int | Literal["auto"]
