"""What a trained relatedness model says of itself, to programs and to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dialogauge.corpus.corpus import SourceFile
from dialogauge.learn.provenance import describe_data, list_data, made_by, made_for, made_from
from dialogauge.learn.training import TrainedRuber
from dialogauge.models.ruber import KIND
from dialogauge.tables import printable

SENTENCES = {
    "rnn": "two layers of bidirectional gated recurrent units over the vectors of the words",
    "max": "the largest value of the words' vectors in each dimension",
    "mean": "the mean of the words' vectors",
}
NETWORKS = {
    "ruber": "RUBER's, three layers over both sentences",
    "towers": "two towers, one for queries and one for responses, compared by the cosine",
}
LOSSES = {
    "cross_entropy": "cross-entropy",
    "ranking": "ranking with a margin",
    "softmax": "softmax over the responses of a batch",
}


@dataclass(frozen=True)
class Sources:
    """Files that were learned from; validated with (or the share of the former); and whose queries were left out."""

    training: Sequence[SourceFile]
    validation: Sequence[SourceFile] = ()
    share: float | None = None
    left_out: Sequence[SourceFile] = ()


def make_card(trained: TrainedRuber, encoder: str, sources: Sources) -> dict[str, Any]:
    training_data, recipe = trained.training_data, trained.recipe
    return {
        **made_from(KIND, encoder, training_data.encoder, training_data.data.texts),
        "network": {**asdict(trained.shape), "members": recipe.members, "context": recipe.context},
        "normalisation": trained.validation.normalisation.record(),
        "validation": {
            **trained.validation.record(training_data),
            "files": describe_data(sources.validation),
            "share": sources.share,
        },
        "training": {
            "recipe": recipe.record(),
            "pairs": len(training_data.data.train),
            "dialogues": len(set(training_data.data.train.dialogues.tolist())),
            "files": describe_data(sources.training),
            "left_out": {"files": describe_data(sources.left_out), "turns": training_data.data.left_out},
            "seconds": round(trained.seconds, 1),
            "device": training_data.device.type,
        },
        **made_by(trained.members),
    }


def readable_card(name: str, card: Mapping[str, Any]) -> str:
    """Markdown, from the card for programs alone."""
    network, training, held = card["network"], card["training"], card["validation"]
    recipe, ranges = training["recipe"], card["normalisation"]
    rows = "\n".join(f"| {kind.replace('_', ' ')} | {value:.4f} |" for kind, value in held["by_negatives"].items())
    files, others = list_data(training["files"]), list_data(held["files"])
    left_out = training["left_out"]["turns"]
    queries = f" {left_out} turns with queries that were to be left out are not among them." if left_out else ""
    gap = "\n\n" if others else ""
    held_back = "of other files" if held["files"] else "held back"
    members = [
        f"{place}. {len(curve['epochs'])} epochs, best {curve['best']}: loss {best['loss']:.4f}, validation loss "
        f"{best['validation_loss']:.4f}, ranking accuracy {best['ranking_accuracy']:.4f}"
        for place, curve in enumerate(card["curves"], start=1)
        for best in [curve["epochs"][curve["best"] - 1]]
    ]
    networks = "one network" if network["members"] == 1 else f"the mean of {network['members']} networks"
    layers = f", side by side from layers {', '.join(map(str, network['layers']))}" if network["layers"] else ""
    query = "the last utterance" if network["context"] == 1 else f"the last {network['context']} utterances"
    text = f"""\
# {name}

Says how related a response is to {query} before it, from 0 to 1: RUBER's unreferenced metric. Learned from
conversations alone, without ratings.

    dialogauge score responses.jsonl --metrics 'ruber_unreferenced[model={name}]'

## What it is

- Encoder: {card["encoder"]["identity"]} (`{card["encoder"]["name"]}`), as it is.
- A sentence: {SENTENCES[network["sentence"]]}{layers}.
- The network: {NETWORKS[network["network"]]}; dropout {network["dropout"]:g}.
- {networks[0].upper()}{networks[1:]}.
- Made for {made_for(card)}.

## What it learned from

{training["pairs"]} pairs of {training["dialogues"]} dialogues.{queries} Loss: {LOSSES[recipe["loss"]]}; negatives:
{", ".join(recipe["negatives"])}; seed {recipe["seed"]}.
{training["seconds"]:g} s ({training["device"]}), encoding aside.

{files}

{chr(10).join(members)}

## How good it is

On {held["pairs"]} pairs of {held["dialogues"]} dialogues {held_back}, the true response scores above a random one in
{100 * held["ranking_accuracy"]:.2f} % of comparisons (95 % interval over dialogues: {100 * held["low"]:.2f} to
{100 * held["high"]:.2f} %), {held["negatives"]} for each pair. Against other negatives:

| negatives | ranking accuracy |
|---|---|
{rows}

{others + gap}These numbers decided when to stop, so that new conversations may fare a little worse. How far scores
agree with people is another question: `dialogauge correlate`.

## Ranges

For `ruber`, the relatedness from {ranges["unreferenced"]["low"]:.6g} to {ranges["unreferenced"]["high"]:.6g} and the
likeness to a reference from {ranges["referenced"]["low"]:.6g} to {ranges["referenced"]["high"]:.6g}
({ranges["pool"]} of the words' vectors) become 0 to 1.

All settings, hashes and curves: card.json.
"""
    return printable(text, keep="\n")
