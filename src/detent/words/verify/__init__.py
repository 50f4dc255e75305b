"""The sentences of what verifies machines, documents and journals."""
