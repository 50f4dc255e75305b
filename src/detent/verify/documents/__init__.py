"""Reads what documents say about a machine: TLA+ modules, diagrams, tables."""
