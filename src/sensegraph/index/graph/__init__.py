"""The graph of an index: extractions merged, duplicates joined, lookups."""
