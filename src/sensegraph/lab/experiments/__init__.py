"""Evaluations from a file to a report."""
