"""Commands that read an index."""
