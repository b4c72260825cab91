"""Vectors kept between runs, on disk."""
