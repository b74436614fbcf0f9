"""KAG: questions as plans of retrieval and calculation."""
