"""HippoRAG."""
