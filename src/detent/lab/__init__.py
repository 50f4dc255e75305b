"""Attacks and demonstrates: shipped with the product, imported by no other room."""
