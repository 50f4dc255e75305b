"""Agents as data: how each command-line agent is started, chosen for a role, and understood afterwards."""
