"""Commands about documents and their index."""
