"""From the replies of a model to values."""
