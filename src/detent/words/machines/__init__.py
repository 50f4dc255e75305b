"""What can be said against a machine: its file as it is read, its shape, and what exploring it finds."""
