"""Holds data: one folder per machine with its file, prompts and scaffold."""
