"""Reward hacks: agents that do everything right except one cheat of the tests, and honest changes beside them."""
