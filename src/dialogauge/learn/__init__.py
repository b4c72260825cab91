"""Training of the models, and the data they are trained on."""
