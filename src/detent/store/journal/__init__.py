"""The journal and what is made from it: tasks, receipts, native files, settings."""
