"""Descriptions, reports and groups without a model."""
