"""Reads and edits texts: Markdown, YAML, JSON, fields; nothing here opens a file."""
