"""Personal data in texts (R28): found by rules, counted, and replaced before anything is stored or sent."""
