"""Stores: where results stay."""
