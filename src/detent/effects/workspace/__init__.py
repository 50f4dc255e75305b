"""Folders in which work is done or proven: homes, checkouts, set-ups."""
