"""Shows: the evidence page, pure HTML made from values."""
