"""LeanRAG (Zhang et al. 2025)."""
