"""Engines: what does language tasks, with a model or without."""
