"""Replies that people rated or chose between."""
