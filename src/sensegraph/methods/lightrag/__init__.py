"""LightRAG."""
