"""Plays the same scripted liars through Detent and its peers, and prints which of them believed which lie."""
