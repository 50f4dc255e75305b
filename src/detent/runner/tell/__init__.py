"""Tells where a task stands and why; reads only."""
