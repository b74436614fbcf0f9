"""Fine-tuning: data to train a model that reads passages of which only some bear on the question.

    questions of a source ─▶ Asked ─▶ examples ─▶ Example ─▶ JSONL, and a report on what is in it

The core never imports a library of training.
"""
