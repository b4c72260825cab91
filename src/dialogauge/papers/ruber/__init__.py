"""Better Automatic Evaluation with Contextualized Embeddings (Ghazarian et al. 2019)."""
