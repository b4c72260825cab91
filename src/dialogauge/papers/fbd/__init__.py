"""Assessing Dialogue Systems with Distribution Distances (Xiang et al. 2021)."""
