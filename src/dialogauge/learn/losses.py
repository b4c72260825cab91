"""How far scores are from telling true responses from others."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from dialogauge.learn.recipe import RuberRecipe


def pairwise(recipe: RuberRecipe, true: Tensor, negative: Tensor) -> Tensor:
    """Of logits of true responses (pairs) and of their negatives (pairs, kinds). True responses count as much as all
    negatives together."""
    if recipe.loss == "ranking":
        return functional.relu(recipe.margin - (true.sigmoid()[:, None] - negative.sigmoid())).mean()
    if recipe.loss == "softmax":
        return (torch.logsumexp(torch.cat([true[:, None], negative], dim=1), dim=1) - true).mean()
    return (functional.softplus(-true).mean() + functional.softplus(negative).mean()) / 2


def among_all(scores: Tensor, same: Tensor) -> Tensor:
    """Of scores of every query with every response of a batch: the true ones stand on the diagonal. Responses with the
    same text as the true one (equal numbers in `same`) are no negatives."""
    others = ~torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    masked = scores.masked_fill((same[:, None] == same[None]) & others, -torch.inf)
    return functional.cross_entropy(masked, torch.arange(len(scores), device=scores.device))
