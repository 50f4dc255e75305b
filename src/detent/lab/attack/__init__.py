"""The attack lab: scripted liars as real processes against the real engine, and what stops each at each level."""
