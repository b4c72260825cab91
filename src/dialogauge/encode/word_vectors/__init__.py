"""Word vectors from GloVe and word2vec files."""
