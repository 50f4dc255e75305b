"""The terminal dashboard: all tasks of a project, what they wait for, and the keys to answer them."""
