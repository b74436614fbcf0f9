"""The walk over passages and names."""
