"""An index read without a question."""
