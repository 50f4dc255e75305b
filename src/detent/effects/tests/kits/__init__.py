"""One kit per language: the parts of a test file, tests planted in it, and functions that raise."""
