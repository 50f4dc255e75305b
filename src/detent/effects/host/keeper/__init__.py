"""The keeper: one process per agent run, and how the engine starts and watches it."""
