"""One agent run: made ready, started, answered, ended."""
