"""The language tasks by a local model."""
