"""The 2 × 2 design."""
