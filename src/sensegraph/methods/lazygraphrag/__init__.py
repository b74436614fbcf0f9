"""LazyGraphRAG: no model at index time."""
