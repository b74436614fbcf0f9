"""An index as a filter or a moment leaves it."""
