"""The REPL: lines typed to one task, one after the other, each the same as `detent say`."""
