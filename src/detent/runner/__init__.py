"""Drives: takes the one step, supervises agent runs and recovers after a crash."""
