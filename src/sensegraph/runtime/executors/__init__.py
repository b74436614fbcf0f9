"""Executors: where batches run."""
