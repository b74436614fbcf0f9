"""LinearRAG (Zhuang et al. 2025)."""
