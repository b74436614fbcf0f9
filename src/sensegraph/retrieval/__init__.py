"""What several methods share to find evidence."""
