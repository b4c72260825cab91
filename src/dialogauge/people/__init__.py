"""People in the loop: a rating study, what its ratings say of all turns, and how many it takes."""
