"""Vector retrieval, full text, and both together with the graph."""
