"""sensegraph: make sense of a whole body of text."""
