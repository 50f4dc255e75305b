"""Remembers: the journal, locks, receipts and native files; the only writer of task state."""
