"""From tables to an index."""
