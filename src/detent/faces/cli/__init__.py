"""Speaks on the command line."""
