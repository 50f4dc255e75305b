"""The attackers, by what they want or misuse."""
