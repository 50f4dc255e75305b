"""The sentences of the effects."""
