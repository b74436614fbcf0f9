"""Reading documents without a model."""
