"""What people do besides moving: land, restore, collect, answer."""
