"""Results in a directory: written whole or not at all, and read again."""
