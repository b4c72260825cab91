"""How many contexts, raters and ratings a study takes, and which turns to ask about next."""
