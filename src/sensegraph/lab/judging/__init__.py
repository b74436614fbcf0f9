"""Answers put before a judge."""
