"""The language tasks by a model behind an endpoint."""
