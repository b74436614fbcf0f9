"""Commands about the graph."""
