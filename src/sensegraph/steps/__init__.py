"""Steps: remembered pure functions from documents to hierarchy, shared by every method."""
