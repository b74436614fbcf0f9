"""What is done with a finished graph: patterns, drawing, import and export."""
