"""Two models side by side in one page: the explorer twice, kept at the same place."""
