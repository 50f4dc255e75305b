"""Verifies: checks machines, compares them with documents, exports them and audits journals."""
