"""One training loop for all models, its checkpoints, and what every model's card says."""
