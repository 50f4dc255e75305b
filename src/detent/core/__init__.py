"""Decides: which move may be made, purely and from values alone."""
