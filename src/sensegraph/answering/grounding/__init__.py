"""Whether an answer keeps to its sources: citations, quotations, speakers, and what it leaves unanswered."""
