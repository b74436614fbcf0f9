"""Personal data in texts: found by rules, counted, and replaced before anything is stored or sent."""
