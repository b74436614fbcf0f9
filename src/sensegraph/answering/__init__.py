"""What several methods share to answer from evidence."""
