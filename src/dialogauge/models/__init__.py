"""Networks, and the directories that trained ones are kept in."""
