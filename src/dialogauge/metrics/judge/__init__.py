"""Language models behind endpoints as metrics."""
