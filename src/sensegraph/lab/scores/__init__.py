"""Scores of answers, and their statistics."""
