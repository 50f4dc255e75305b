"""Looks: judges the observations and receipts it is handed; never writes, never spawns."""
