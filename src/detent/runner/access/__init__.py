"""What agent runs and commands may touch, are given, and are trusted with."""
