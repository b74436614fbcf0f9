"""The one place that speaks HTTP to a model."""
