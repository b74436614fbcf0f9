"""From an index to files."""
