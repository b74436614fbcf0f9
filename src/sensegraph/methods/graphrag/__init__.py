"""GraphRAG (Edge et al. 2024): global, local and DRIFT search, and text summarisation."""
