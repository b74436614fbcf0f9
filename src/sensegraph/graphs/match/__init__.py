"""Patterns over the graph of an index: text → frozen syntax → joins → rows that can be cited."""
