"""Drives tasks: one, many, or one with a person at the terminal."""
