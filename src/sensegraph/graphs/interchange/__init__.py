"""Import and export: the seven tables of the reference implementation of GraphRAG, and property-graph formats."""
