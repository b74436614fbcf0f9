"""Models in a folder of the user's: embedders, static tables and rerankers, read on this machine without torch."""
