"""Holds what else remembers a task against its journal."""
