"""Replays a journal: checks every line against the rules again."""
