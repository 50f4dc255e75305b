"""Differ: the code that one machine alone needs, a folder for each machine."""
