"""Trains entailment models of several recipes beside each other on one GPU, and judges them all by the same tests.

    python scripts/entailment_candidates.py DATA OUT [--encoder DIR] [--only A,B] [--pairs N] [--minutes M]

DATA holds chitchat.jsonl (scripts/chitchat_conversations.py), SNLI's dev and test files (s1.dev.gz and those beside it,
s1.test.gz …) and, where they are there, nli-valid.txt.gz (Dialogue NLI), minimal_pairs.jsonl (of
tests/learned/entailment), dailydialog-pairs.jsonl (synthesised with no options from DailyDialog's validation file) and
rated.jsonl: lines with a corpus, a premise, a response and the mean rating of people.

Each candidate is what `dialogauge synthesize entailment` and `dialogauge train entailment` do with the options that
CANDIDATES has. OUT gets results.json and the models, as tar files of at most 15 MB. The one to ship has the highest
`chosen_by`, the mean of two figures of pairs held back: how often a true next utterance gets more entailment than a
random one (AUC), and the accuracy on contrasts, over their kinds. The facts of those are of no pair that is learned
from. Tests and ratings are shown, and choose nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dialogauge.encode.base import Encoder
    from dialogauge.learned.entailment.data import EntailmentData
    from dialogauge.learned.entailment.fit import EntailmentTask
    from dialogauge.learned.entailment.recipe import EntailmentRecipe

MOST_BYTES = 15_000_000
SAVED = 85.0
"""Seconds that are kept for the tests after training."""
TESTS = ("s1.test.gz", "nli-valid.txt.gz", "dailydialog-pairs.jsonl", "minimal_pairs.jsonl")
SHOWN = (
    (("Do you like animals?", "Yes, I have three cats", "How many cats do you have?"), "I have three cats."),
    (("Do you like animals?", "Yes, I have three cats", "How many cats do you have?"), "I have two cats."),
    (("I have three cats.",), "I have two cats."),
    (("Where do you live?", "I live in Paris."), "I live in London."),
)


@dataclass(frozen=True)
class Candidate:
    contrast: float = 0.03
    """Of contradictions, of each kind."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Others of the synthesis."""
    pairs: float = 1.0
    """Times those that are asked for."""
    snli: int = 1
    """How often SNLI's dev file is given to learn from."""
    network: str = "adapter"
    recipe: Mapping[str, Any] = field(default_factory=dict)


SYNTHESIS = {"nli": 0.3, "history": (1, 2, 3), "negation": 0.1, "restated": 0.1}
ADAPTER = {"rank": 32, "batch": 256, "rate": 1e-3, "epochs": 3}
CANDIDATES = {
    "without": Candidate(0.0, options={"negation": 0.2}),
    "base": Candidate(),
    "many": Candidate(0.04),
    "snli3": Candidate(snli=3),
    "both": Candidate(0.04, snli=3),
    "next": Candidate(options={"neutral": 1.6, "contradiction": 1.0}),
    "next-snli": Candidate(0.04, options={"neutral": 1.6, "contradiction": 1.0}, snli=3),
    "more-next": Candidate(0.05, options={"neutral": 2.2, "contradiction": 1.2}, snli=3),
    "wide": Candidate(pairs=1.75, recipe={"epochs": 2}),
    "long": Candidate(options={"neutral": 1.6, "contradiction": 1.0}, pairs=1.5, snli=3),
    "long-few": Candidate(0.04, options={"neutral": 1.2, "contradiction": 1.0}, pairs=1.5, snli=3),
    "long-snli": Candidate(options={"neutral": 1.6, "contradiction": 1.0}, pairs=1.5, snli=6),
    "slow": Candidate(snli=2, recipe={"rate": 5e-4}),
    "seed1": Candidate(options={"seed": 1}, recipe={"seed": 1}),
    "hypothesis": Candidate(recipe={"hypothesis_only": True, "epochs": 1}),
    "esim": Candidate(network="esim", recipe={"batch": 256, "rate": 1e-3, "epochs": 2}),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--only", default=",".join(CANDIDATES))
    parser.add_argument("--pairs", type=int, default=400_000)
    parser.add_argument("--minutes", type=float, default=60.0, help="after which training ends where it is")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--until", type=float, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        train_one(given.one, given)
    else:
        train_all(given)


def train_all(given: argparse.Namespace) -> None:
    """Every candidate in a process of its own."""
    until = time.time() + 60 * given.minutes - SAVED
    given.out.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp())
    threads = {name: "3" for name in ("OMP_NUM_THREADS", "RAYON_NUM_THREADS")}
    running = {}
    for name in given.only.split(","):
        call = [sys.executable, __file__, str(given.data), str(work), "--one", name, "--until", str(until)]
        call += ["--encoder", given.encoder, "--pairs", str(given.pairs)]
        with (work / f"{name}.log").open("w") as log:
            running[name] = subprocess.Popen(call, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **threads})
    waiting = dict(running)
    while waiting:
        time.sleep(2)
        ended = [name for name, process in waiting.items() if process.poll() is not None]
        late = time.time() > until + SAVED
        for name in [*waiting] if late else ended:
            waiting.pop(name).kill()
        if ended or late:
            collect(work, given.out, running)
    for line in summary(json.loads((given.out / "results.json").read_text(encoding="utf-8"))):
        print(line)


def collect(work: Path, out: Path, names: Sequence[str] | Mapping[str, Any]) -> None:
    """What is there so far."""
    results, models = {}, []
    for name in names:
        found = work / f"{name}.json"
        if found.is_file():
            results[name] = json.loads(found.read_text(encoding="utf-8"))
            models.append(work / name)
        else:
            results[name] = {"log": (work / f"{name}.log").read_text(encoding="utf-8")[-3000:]}
    (out / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    held: list[list[Path]] = [[]]
    for model in models:
        if sum(map(size, [*held[-1], model])) > MOST_BYTES:
            held.append([])
        held[-1].append(model)
    for place, some in enumerate(held):
        with tarfile.open(out / f"models-{place}.tar", "w") as packed:
            for model in some:
                packed.add(model, model.name)


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir()) + 10_000


def summary(results: Mapping[str, Any]) -> list[str]:
    """A line for each candidate, the best of those that judge both texts first."""
    lines = []
    for name, found in sorted(results.items(), key=lambda item: -item[1].get("chosen_by", 0)):
        if "log" in found:
            lines.append(f"{name}: failed\n{found['log']}")
            continue
        tests = " ".join(f"{test}={value['accuracy']:.3f}" for test, value in found["tests"].items())
        rated = " ".join(f"{corpus}={value['pearson']:.3f}" for corpus, value in found["rated"].items())
        shown = " ".join(f"{value[2]:.3f}" for value in found["shown"])
        seen = f"epoch {found['epoch']:g}, {found['seconds']:.0f} s"
        lines.append(
            f"{name}: chosen_by={found['chosen_by']:.4f} auc={found['auc']:.4f} contrast={found['contrast']:.4f} "
            f"validation={found['validation']['accuracy']:.4f} {tests} {rated} shown={shown} ({seen})"
        )
    return lines


def train_one(name: str, given: argparse.Namespace) -> None:
    from dialogauge.encode.encoders import Encoders
    from dialogauge.learned.directory import write_model
    from dialogauge.learned.entailment.card import make_card, readable_card
    from dialogauge.learned.entailment.data import Files, read_data
    from dialogauge.learned.entailment.recipe import RECIPES

    candidate, work = CANDIDATES[name], given.out
    numbers = {**(ADAPTER if candidate.network == "adapter" else {}), **candidate.recipe}
    recipe = replace(RECIPES[candidate.network], **numbers)
    pairs = work / f"{name}-data" / "chitchat-pairs.jsonl"
    pairs.parent.mkdir()
    snli = given.data / "s1.dev.gz"
    counts = synthesize(candidate, given.data / "chitchat.jsonl", snli, pairs, round(given.pairs * candidate.pairs))
    tests = [file for name_of_file in TESTS if (file := given.data / name_of_file).is_file()]
    data = read_data(Files([pairs, *[snli] * candidate.snli], tests=tests), recipe.seed)
    encoder = Encoders(None).get(given.encoder)
    print("to learn from:", len(data.train), flush=True)
    trained, task = train(data, encoder, recipe, given.until)
    card = make_card(trained, "minilm")
    write_model(work / name, trained.weights(half=True), card, readable_card(name, card), overwrite=True)
    found = {
        "synthesis": {**SYNTHESIS, **candidate.options, "contrast": candidate.contrast, "counts": counts},
        "snli": candidate.snli,
        "recipe": recipe.record(),
        "seconds": trained.seconds,
        "epoch": trained.fitted.curve[-1].epoch,
        "validation": trained.validation.record(),
        "tests": {test: assessed.record() for test, assessed in trained.tests.items()},
        **judged_by(data, task),
        **rated(given.data / "rated.jsonl", encoder, recipe, task, trained.temperature),
    }
    pairs.unlink()
    (work / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")


def synthesize(candidate: Candidate, conversations: Path, snli: Path, out: Path, pairs: int) -> dict[str, int]:
    from dialogauge.learned.synthesis import Options, synthesize_entailment
    from dialogauge.learned.synthesis.contrast.kinds import KINDS

    contrast = dict.fromkeys(KINDS, candidate.contrast) if candidate.contrast else {}
    options = Options(**{**SYNTHESIS, **candidate.options}, contrast=contrast, pairs=pairs)
    made = synthesize_entailment([conversations], out, options, nli=[snli], overwrite=True)
    totals: defaultdict[str, int] = defaultdict(int)
    for (_, label, source), number in made.counts.items():
        totals[f"{label} {source}"] += number
    return dict(totals)


def train(data: EntailmentData, encoder: Encoder, recipe: EntailmentRecipe, until: float) -> tuple[Any, EntailmentTask]:
    """As `dialogauge train entailment`, but that it ends in time."""
    import torch

    from dialogauge.learned.entailment.train import judge_itself, make_task
    from dialogauge.learned.training.loop import Loop

    class TimedLoop(Loop[Any]):
        @property
        def end(self) -> int:
            return len(self.curve) if self.curve and time.time() > until else super().end

    started = time.monotonic()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    task = make_task(data, encoder, recipe, device)
    print("inputs:", round(time.monotonic() - started), "s", flush=True)
    fitted = TimedLoop(task).run()
    print("trained:", round(time.monotonic() - started), "s", flush=True)
    return judge_itself(task, fitted, data, encoder, recipe, started), task


def judged_by(data: EntailmentData, task: EntailmentTask) -> dict[str, Any]:
    """What the choice stands on, of pairs held back."""
    from dialogauge.learned.synthesis.contrast.kinds import KINDS

    logits = task.outputs(data.held)
    said, labels = logits.argmax(axis=1), data.pairs.labels[data.held]
    sources = np.array([data.pairs.sources[row] for row in data.held.tolist()])
    by_kind = {kind: float((said == labels)[sources == kind].mean()) for kind in KINDS if (sources == kind).any()}
    entailment = probabilities(logits)[:, 0]
    auc = area(entailment[sources == "next"], entailment[sources == "random"])
    contrast = float(np.mean(list(by_kind.values()))) if by_kind else 0.0
    return {"auc": auc, "by_kind": by_kind, "contrast": contrast, "chosen_by": (auc + contrast) / 2}


def area(right: NDArray[np.float64], wrong: NDArray[np.float64]) -> float:
    """How often one of the first is above one of the second."""
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([right, wrong]))[: len(right)]
    return float((ranks.sum() - len(right) * (len(right) + 1) / 2) / (len(right) * len(wrong)))


def probabilities(logits: NDArray[np.float64], temperature: float = 1.0) -> NDArray[np.float64]:
    from scipy.special import softmax

    return np.asarray(softmax(logits / temperature, axis=1))


def rated(
    file: Path, encoder: Encoder, recipe: EntailmentRecipe, task: EntailmentTask, temperature: float
) -> dict[str, Any]:
    """Agreement with people, by corpus, and what is said of a few examples."""
    from dialogauge.learned.entailment.data import Labelled
    from dialogauge.learned.entailment.inputs import make_inputs
    from dialogauge.learned.entailment.model import premise_of
    from dialogauge.learned.training.token_pairs import outputs_of

    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.is_file() else []
    premises = [row["premise"] for row in rows] + [premise_of(context) for context, _ in SHOWN]
    hypotheses = [row["response"] for row in rows] + [response for _, response in SHOWN]
    nothing = np.zeros(len(premises), np.int64)
    pairs = Labelled(premises, hypotheses, nothing, nothing, [""] * len(premises))
    inputs = make_inputs(pairs, encoder, recipe.shape(encoder), task.device)
    logits = outputs_of(task.network, inputs, np.arange(len(premises)), recipe.batch, task.device)
    found = probabilities(logits, temperature)
    return {
        "rated": agreement(rows, found[: len(rows), 0]),
        "probabilities": np.round(found[: len(rows)], 5).tolist(),
        "shown": found[len(rows) :].tolist(),
    }


def agreement(rows: Sequence[Mapping[str, Any]], entailment: NDArray[np.float64]) -> dict[str, dict[str, float]]:
    from scipy.stats import pearsonr, spearmanr

    corpora, people = np.array([row["corpus"] for row in rows]), np.array([row["rating"] for row in rows])
    found = {}
    for corpus in dict.fromkeys(corpora.tolist()):
        its = corpora == corpus
        pearson, spearman = (float(test(entailment[its], people[its])[0]) for test in (pearsonr, spearmanr))
        found[corpus] = {"pearson": pearson, "spearman": spearman}
    grade = [name for name in found if name.startswith("grade-")]
    if grade:
        found["grade"] = {
            kind: float(np.mean([found[name][kind] for name in grade])) for kind in ("pearson", "spearman")
        }
    return found


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        main()
    except Exception:
        traceback.print_exc()
        raise SystemExit(1) from None
