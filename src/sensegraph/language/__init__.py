"""What is known about texts and languages, in one place."""
