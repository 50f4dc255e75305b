"""Measures Detent and its peers side by side in one run; `make bench` calls `bench/run.py`."""
