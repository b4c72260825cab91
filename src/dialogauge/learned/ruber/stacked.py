"""Several of RUBER's networks as one: every tensor of theirs with a leading axis of members."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log, prod
from typing import Any

import torch
from torch import Tensor, nn

from dialogauge.learned.ruber.inputs import TextInputs
from dialogauge.learned.ruber.networks import Relatedness
from dialogauge.learned.ruber.recurrence import Packing, encode_texts
from dialogauge.learned.words import WordStates

BETAS, TINY = (0.9, 0.999), 1e-8
"""Of Adam, as torch has them."""
FIRST, SECOND, STEP = "exp_avg", "exp_avg_sq", "step"
"""What torch's Adam calls its state."""


class Stacked:
    """Networks of one shape without dropout, whose parameters and states of Adam become rows of the tensors here: what
    is learned here, they have learned."""

    def __init__(self, networks: Sequence[nn.Module], optimizers: Sequence[torch.optim.Optimizer]) -> None:
        parameters = [dict(network.named_parameters()) for network in networks]
        shapes = {name: tensor.shape for name, tensor in parameters[0].items()}
        states = [
            [optimizer.state.get(parameter, {}) for parameter in own.values()]
            for own, optimizer in zip(parameters, optimizers, strict=True)
        ]
        self.values = torch.stack([_flat(own.values()) for own in parameters])
        self.first, self.second = (
            torch.stack(
                [
                    _flat(
                        state.get(kind, torch.zeros_like(tensor))
                        for state, tensor in zip(own, named.values(), strict=True)
                    )
                    for own, named in zip(states, parameters, strict=True)
                ]
            )
            for kind in (FIRST, SECOND)
        )
        done = [float(own[0].get(STEP, 0)) for own in states]
        self.steps = torch.tensor(done, dtype=torch.float64, device=self.values.device)[:, None]
        self.weights = {name: rows.requires_grad_() for name, rows in _cut(self.values, shapes).items()}
        firsts, seconds = _cut(self.first, shapes), _cut(self.second, shapes)
        for member, (own, optimizer) in enumerate(zip(parameters, optimizers, strict=True)):
            for name, parameter in own.items():
                parameter.data = self.weights[name].data[member]
                optimizer.state[parameter] = {
                    STEP: torch.tensor(done[member]),
                    FIRST: firsts[name][member],
                    SECOND: seconds[name][member],
                }
        self._optimizers = list(optimizers)

    def note_steps(self) -> None:
        """Tells the members' optimizers how far they are."""
        for done, optimizer in zip(self.steps[:, 0].tolist(), self._optimizers, strict=True):
            for state in optimizer.state.values():
                state[STEP].fill_(done)

    @torch.no_grad()
    def learn(self, gradients: Iterable[Tensor], rates: Tensor) -> None:
        """A step of Adam, with the rate of each member."""
        gradient = torch.cat([each.flatten(1) for each in gradients], dim=1)
        self.steps += 1
        self.first.lerp_(gradient, 1 - BETAS[0])
        self.second.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
        seen = [-torch.expm1(self.steps * log(beta)) for beta in BETAS]
        step, spread = (rates[:, None] / seen[0]).to(gradient), seen[1].sqrt().to(gradient)
        self.values.sub_(step * self.first / (self.second.sqrt() / spread + TINY))

    def network(self, name: str) -> dict[str, Tensor]:
        """The tensors of a part of the networks."""
        return {key.removeprefix(name): tensor for key, tensor in self.weights.items() if key.startswith(name)}

    def sentences(self, inputs: TextInputs, rows: Tensor, parts: Sequence[str], packing: Packing) -> Tensor:
        """The vectors of texts, (members, chunks, texts, width). `parts` says which network each chunk is for: query or
        response."""
        if isinstance(inputs, WordStates):
            return encode_texts(inputs, rows, [self.network(f"{part}_rnn.gru.") for part in parts], packing)
        pooled: Any = inputs[rows]
        return pooled  # type: ignore[no-any-return]

    def logits(self, queries: Tensor, responses: Tensor) -> Tensor:
        """Of queries (members, pairs, width) with responses (members, pairs, kinds, width)."""
        alike = torch.bmm(queries, self.weights["bilinear"])[:, :, None] * responses
        queries = queries[:, :, None].expand_as(responses)
        found = torch.cat([queries, alike.sum(-1, keepdim=True), responses], dim=-1).flatten(1, 2)
        layers = self.network("layers.")
        numbers = sorted({int(name.partition(".")[0]) for name in layers})
        for number in numbers:
            found = torch.baddbmm(layers[f"{number}.bias"][:, None], found, layers[f"{number}.weight"].transpose(1, 2))
            found = found if number == numbers[-1] else found.tanh()
        return found.view(responses.shape[:-1])


def can_be_stacked(network: nn.Module, device: torch.device) -> bool:
    """Those of the paper whose many small steps take long alone: recurrent ones, on a GPU all. None with dropout, since
    what each of them leaves out by chance is its own."""
    dropouts = [module.p for module in network.modules() if isinstance(module, nn.Dropout)]
    small_steps = isinstance(network, Relatedness) and (network.query_rnn is not None or device.type == "cuda")
    return small_steps and not any(dropouts)


def _flat(tensors: Iterable[Tensor]) -> Tensor:
    return torch.cat([tensor.detach().flatten() for tensor in tensors])


def _cut(rows: Tensor, shapes: dict[str, torch.Size]) -> dict[str, Tensor]:
    parts = torch.split(rows, [prod(shape) for shape in shapes.values()], dim=1)
    return {name: part.view(len(rows), *shape) for part, (name, shape) in zip(parts, shapes.items(), strict=True)}
