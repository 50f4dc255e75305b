"""Processes on this host: bounded, sandboxed, watched."""
