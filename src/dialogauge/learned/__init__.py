"""Models trained on conversations: their networks, the directories they are kept in, and their training."""
