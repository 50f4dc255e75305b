"""The tree id and everything that compares trees."""
