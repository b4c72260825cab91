"""Distances between all real and all generated (context, response) pairs."""
