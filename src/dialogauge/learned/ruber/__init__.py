"""RUBER's unreferenced metric: networks that say how related a response is to its context, and their training."""
