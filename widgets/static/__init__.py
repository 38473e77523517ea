"""The canvas as the browser loads it: built from ``widgets/frontend`` and committed."""
