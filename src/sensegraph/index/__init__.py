"""The index that all methods share: how it is built, and how it is read."""
