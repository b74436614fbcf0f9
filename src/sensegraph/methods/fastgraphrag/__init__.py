"""FastGraphRAG."""
