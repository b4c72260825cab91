"""From text to vectors: transformers, static word vectors, sentence encoders, and the cache they share."""
