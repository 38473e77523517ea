"""The explorer served on loopback: a page in a browser, and behind it a session of its own."""
