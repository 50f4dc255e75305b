"""Files as they lie on the disk: whole writes, locks, hashes, paths."""
