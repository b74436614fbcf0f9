"""Questions to measure with."""
