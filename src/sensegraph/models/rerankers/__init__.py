"""Rerankers: a question and texts to how well each fits."""
