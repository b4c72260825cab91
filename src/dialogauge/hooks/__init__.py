"""Ways into other tools, a file for each: pytest, GitHub, Inspect, Hugging Face `evaluate` and torchmetrics. None is
imported before it is used, and no tool is needed for anything else."""
