"""The offline engine: language tasks done from the text itself, without a model."""
