"""Tables of papers measured here."""
