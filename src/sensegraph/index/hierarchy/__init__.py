"""Communities of the graph and the reports on them."""
