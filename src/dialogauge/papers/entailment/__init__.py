"""Evaluating Coherence in Dialogue Systems using Entailment (Dziri et al. 2019)."""
