"""The engine's own git, and the person's checkout where git changes it."""
