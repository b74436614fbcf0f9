"""The language tasks by a model of this machine."""
