"""Whether answers keep to their sources."""
