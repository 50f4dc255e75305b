"""One module for each tool: how it is prepared, started, and asked what came of it."""
