"""Speaks: turns decisions and errors into words for people and programs."""
