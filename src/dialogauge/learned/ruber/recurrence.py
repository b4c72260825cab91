"""Recurrent networks of many members at once: gated recurrent units on a leading axis, over packed words.

Every group (a member, a direction, some of its texts) has weights of its own and as many texts as the others, longest
first. Step t of all groups is one product of matrices, over as many texts as still go on in any group; where a text
of a group is over, what is computed is looked at by nothing, and nothing is learned from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from dialogauge.learned.words import WordStates


@dataclass(frozen=True)
class Packing:
    """Where the words of sorted texts stand: step after step, at each those of the texts that are that long."""

    counts: tuple[int, ...]
    """Texts that are longer than each step."""
    steps: Tensor
    """Of each place, its step."""
    texts: Tensor
    """Of each place, the text's position among the sorted."""
    starts: Tensor
    """Of each step, its first place."""

    @classmethod
    def from_lengths(cls, lengths: Tensor) -> Packing:
        """For texts of these lengths, longest first; of several groups, the longest of each position."""
        steps = torch.arange(int(lengths[0]), device=lengths.device)
        counts = (lengths > steps[:, None]).sum(1)
        starts = counts.cumsum(0) - counts
        numbers = steps.repeat_interleave(counts)
        places = torch.arange(len(numbers), device=lengths.device)
        return cls(tuple(counts.tolist()), numbers, places - starts[numbers], starts)


class Recurrence(torch.autograd.Function):
    """One layer in one direction: the states of all words, from what the words alone put into the gates."""

    @staticmethod
    def forward(ctx: Any, words: Tensor, weight: Tensor, bias: Tensor, packing: Packing) -> Tensor:
        """`words` of shape (groups, places, gates), gates in torch's order (reset, update, new), each of `units`
        numbers; `weight` (groups, units, gates), `bias` (groups, 1, gates)."""
        units = weight.shape[1]
        past, states = torch.empty_like(words), words.new_empty(*words.shape[:2], units)
        open_, new = words.new_empty(*words.shape[:2], 2 * units), torch.empty_like(states)
        state, start = words.new_zeros(len(words), packing.counts[0], units), 0
        for count in packing.counts:
            here = slice(start, start + count)
            inward, before = words[:, here], state[:, :count]
            recurrent = torch.baddbmm(bias, before, weight, out=past[:, here])
            gates = torch.add(inward[..., : 2 * units], recurrent[..., : 2 * units], out=open_[:, here]).sigmoid_()
            reset, update = gates[..., :units], gates[..., units:]
            torch.addcmul(inward[..., 2 * units :], reset, recurrent[..., 2 * units :], out=new[:, here]).tanh_()
            state = torch.lerp(new[:, here], before, update, out=states[:, here])
            start += count
        ctx.save_for_backward(weight, past[..., 2 * units :], open_, new, states)
        ctx.packing = packing
        return states

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        """What a state is worth flows back from step to step; all else is computed for all steps at once."""
        weight, past, open_, new, states = ctx.saved_tensors
        counts = ctx.packing.counts
        units = weight.shape[1]
        reset, update = open_[..., :units], open_[..., units:]
        before = _states_before(states, ctx.packing)
        into_new = (1 - update) * (1 - new * new)
        # By how much a state changes with each gate's product of the state before: reset, update, new.
        gates = torch.stack(
            [into_new * past * reset * (1 - reset), (before - new) * update * (1 - update), into_new * reset], dim=2
        )
        worth, back, end = gradients[0].clone(), weight.transpose(1, 2), states.shape[1]
        for step in range(len(counts) - 1, -1, -1):
            here = slice(end - counts[step], end)
            end -= counts[step]
            flowing = gates[:, here].mul_(worth[:, here, None])
            if step:
                first = end - counts[step - 1]
                earlier = worth[:, first : first + counts[step]]
                earlier.addcmul_(worth[:, here], update[:, here]).baddbmm_(flowing.flatten(2), back)
        words = torch.cat([gates[:, :, :2].flatten(2), worth * into_new], dim=2)
        flat = gates.flatten(2)
        return words, before.transpose(1, 2) @ flat, flat.sum(1, keepdim=True), None


def _states_before(states: Tensor, packing: Packing) -> Tensor:
    """Of each place, the state one step earlier; zeros at first."""
    first = packing.counts[0]
    earlier = packing.starts[packing.steps[first:] - 1] + packing.texts[first:]
    return torch.cat([torch.zeros_like(states[:, :first]), states.index_select(1, earlier)], dim=1)


class Reversed(torch.autograd.Function):
    """Words of each text in reverse order: places go to places, so that gradients go the same way back."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, places: Tensor) -> Tensor:
        ctx.save_for_backward(places)
        return states.gather(-2, places)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        return gradients[0].gather(-2, ctx.saved_tensors[0]), None


LAYERS = ("l0", "l1")


def encode_texts(
    inputs: WordStates, rows: Tensor, networks: Sequence[Mapping[str, Tensor]], packing: Packing
) -> Tensor:
    """What two bidirectional layers make of texts: the last states of both directions, side by side. `rows` of shape
    (members, chunks, texts), each chunk longest first; a chunk has its network, whose tensors are those of nn.GRU with
    a leading axis of members. The answer is of shape (members, chunks, texts, 2 units)."""
    members, chunks, count = rows.shape
    texts = rows.flatten(0, 1)
    lengths = inputs.lengths[texts]
    own, steps = lengths[:, packing.texts], packing.steps
    there, mirrored = steps < own, (own - 1 - steps).clamp(min=0)
    first = inputs.starts[texts][:, packing.texts]
    words = inputs.states[torch.stack([first + steps, first + mirrored], 1) * there[:, None]]
    everywhere = torch.arange(len(steps), device=steps.device)
    turned = torch.where(there, packing.starts[mirrored] + packing.texts, everywhere)
    last = packing.starts[lengths - 1] + torch.arange(count, device=rows.device)
    for layer in LAYERS:
        if layer != LAYERS[0]:
            units = words.shape[-1]
            other = Reversed.apply(words, turned[:, None, :, None].expand(-1, 2, -1, units))  # type: ignore[no-untyped-call]
            ahead = torch.cat([words[:, 0], other[:, 1]], dim=-1)
            words = torch.stack([ahead, torch.cat([other[:, 0], words[:, 1]], dim=-1)], dim=1)
        words = _layer(words.flatten(0, 1), layer, networks, packing).view(members * chunks, 2, len(steps), -1)
    ends = words.gather(2, last[:, None, :, None].expand(-1, 2, -1, words.shape[-1]))
    return ends.transpose(1, 2).reshape(members, chunks, count, -1)


def _layer(words: Tensor, layer: str, networks: Sequence[Mapping[str, Tensor]], packing: Packing) -> Tensor:
    def stacked(name: str) -> Tensor:
        """Of each group: members, chunks and directions in turn."""
        ways = [
            torch.stack([network[f"{name}_{layer}"], network[f"{name}_{layer}_reverse"]], 1) for network in networks
        ]
        return torch.stack(ways, 1).flatten(0, 2)

    inward = torch.baddbmm(stacked("bias_ih")[:, None], words, stacked("weight_ih").transpose(1, 2))
    weight = stacked("weight_hh").transpose(1, 2).contiguous()
    states: Tensor = Recurrence.apply(inward, weight, stacked("bias_hh")[:, None], packing)  # type: ignore[no-untyped-call]
    return states
