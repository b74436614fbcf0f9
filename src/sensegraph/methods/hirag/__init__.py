"""HiRAG (Huang et al. 2025)."""
