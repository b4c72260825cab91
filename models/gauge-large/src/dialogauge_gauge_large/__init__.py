"""The model that `gauge[model=large]` of dialogauge opens: the directory `gauge-large` beside this file."""
