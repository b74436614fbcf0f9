"""How what texts say is stored: the texts of chunks once, and records and slices that refer to them."""
