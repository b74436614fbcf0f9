"""GRAFT."""
