"""Proves: checks machines, exports them and audits journals."""
