"""Proof for a step: the folders commands run in, and the commands themselves."""
