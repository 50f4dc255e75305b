"""The checks that only the machine `lights-out` asks."""
