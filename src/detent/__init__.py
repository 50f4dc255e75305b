"""Detent holds a coding agent in its state until there is enough proof to move on."""

__version__ = "0.1.0"
