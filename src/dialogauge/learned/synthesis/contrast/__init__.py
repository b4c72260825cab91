"""Contrast pairs: statements that differ in one word, or in none, so that only their content tells the label.

The idea is that of contrast sets (Gardner et al. 2020) and counterfactual data (Kaushik et al. 2020)."""
