"""Replays a journal: every line is held against the rules again."""
