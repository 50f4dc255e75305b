"""The sentences of the store."""
