"""The sentences of the runner."""
