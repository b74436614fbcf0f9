"""Answering questions without a model."""
