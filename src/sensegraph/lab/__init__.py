"""Evaluation, reproduction and fine-tuning. It imports everything; nothing imports it."""
