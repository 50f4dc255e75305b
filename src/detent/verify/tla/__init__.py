"""Writes a machine as a TLA+ module."""
