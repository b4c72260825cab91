"""Over a whole run every distinct text and pair goes through the model once; with a warm cache no model is loaded."""

import json
import subprocess
import sys
from collections import Counter

import pytest

from dialogauge import evaluate, load, stream
from dialogauge.cli.main import main
from dialogauge.encode.network import EncoderNetwork
from tests.encode.models import build, minilm, open_model
from tests.learned.small import write_entailment

METRICS = "bertscore,bertscore[idf=true],embedding_average,embedding_greedy,embedding_extrema"
PAIRS = "fbd,fbd[refs=all],prd,mmd[kernel=gaussian],prdc"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return build("bert", tmp_path_factory.mktemp("model") / "bert")


@pytest.fixture
def corpus(tmp_path):
    """Three systems that share contexts, references and many responses."""
    path = tmp_path / "turns.jsonl"
    said = ["fine , thank you .", "i would like the soup .", "no .", "yes , it is .", "the dog did not bark ."]
    turns = [
        {
            "id": str(place),
            "system": f"s{system}",
            "context": ["and then ?", f"question {place % 7} ?"],
            "response": said[(place * (system + 1)) % 5],
            "references": [said[place % 5], f"that is number {place % 9} ."],
        }
        for system in range(3)
        for place in range(30)
    ]
    path.write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    return path


def test_each_distinct_text_or_pair_goes_through_the_model_once(corpus, monkeypatch):
    minilm()  # skips without its weights; a small model reads too many words as unknown to tell texts apart
    seen = Counter()
    forward = EncoderNetwork.__call__

    def counting(self, batch, outputs):
        seen.update(tuple(one.ids.tolist()) for one in batch)
        return forward(self, batch, outputs)

    monkeypatch.setattr(EncoderNetwork, "__call__", counting)
    turns = load(corpus)
    evaluate(turns, [METRICS, PAIRS], cache=False, resamples=20)
    texts = {text for turn in turns for text in (turn.response, *turn.references)}
    pairs = {(turn.context[-1], text) for turn in turns for text in (turn.response, *turn.references)}
    assert set(seen.values()) == {1}
    assert len(seen) == len(texts) + len(pairs)


def test_so_does_each_pair_through_a_tuned_model(corpus, model, tmp_path, monkeypatch):
    """Beside the encoder that it was made from, and two ways to score with it."""
    directory = write_entailment(tmp_path / "m", str(model), "transformer", opened=open_model(model))
    seen = []
    forward = EncoderNetwork.__call__

    def counting(self, batch, outputs):
        seen.extend((id(self), tuple(one.ids.tolist())) for one in batch)
        return forward(self, batch, outputs)

    monkeypatch.setattr(EncoderNetwork, "__call__", counting)
    scored = f"entailment[model={directory}]"
    both = (
        f"{scored},entailment[model={directory},score=expected],entailment[model={directory},history=-1],fbd[refs=all]"
    )
    turns = load(corpus)
    together = evaluate(turns, both, encoder=str(model), cache=False, resamples=20)
    tuned, base = (sum(network == wanted for network, _ in seen) for wanted in dict.fromkeys(at for at, _ in seen))
    assert tuned == len({(turn.context[at:], turn.response) for turn in turns for at in (0, 1)})
    assert base == len({(turn.context[-1], text) for turn in turns for text in (turn.response, *turn.references)})
    alone = evaluate(turns, scored, encoder=str(model), cache=False, resamples=20)
    values = {(score.system, score.metric): score.value for score in together.scores}
    for score in alone.scores:
        assert values[score.system, score.metric] == pytest.approx(score.value, abs=1e-6)


@pytest.mark.parametrize("family", ["bert", "roberta", "xlnet"])
def test_so_it_does_in_every_family(corpus, family, tmp_path, monkeypatch):
    """Also where the first word of a text is spelled in another way for some metrics."""
    directory = build(family, tmp_path / family)
    sizes = []
    forward = EncoderNetwork.__call__

    def counting(self, batch, outputs):
        sizes.append(len(batch))
        return forward(self, batch, outputs)

    monkeypatch.setattr(EncoderNetwork, "__call__", counting)
    turns = load(corpus)
    evaluate(turns, METRICS, encoder=str(directory), cache=False, resamples=20)
    assert sum(sizes) == len({text for turn in turns for text in (turn.response, *turn.references)})


def test_past_what_fits_in_memory(corpus, model, monkeypatch):
    """A stream has all its metrics see a batch, too, before the next comes."""
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 10)
    monkeypatch.setattr("dialogauge.encode.transformer.AT_HAND", 2**17)
    monkeypatch.setattr("dialogauge.evaluation.sample.BATCH", 4)
    rows = [json.loads(line) for line in corpus.read_text().splitlines()]
    for place, row in enumerate(rows):
        row["response"] += " hello" * place
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows if row["system"] == "s0"))
    sizes = []
    forward = EncoderNetwork.__call__

    def counting(self, batch, outputs):
        sizes.append(len(batch))
        return forward(self, batch, outputs)

    monkeypatch.setattr(EncoderNetwork, "__call__", counting)
    result = evaluate(stream(corpus), METRICS, encoder=str(model), cache=False)
    turns = load(corpus)
    distinct = {text for turn in turns for text in (turn.response, *turn.references)}
    assert len(distinct) <= sum(sizes) < 2 * len(distinct)
    assert "learned_from_part" not in {caveat.code for caveat in result.caveats}


SCORE = """
import sys
from dialogauge.cli.main import main
code = main(sys.argv[1:])
print("torch" in sys.modules, file=sys.stderr)
sys.exit(code)
"""


def arguments(corpus, model, *more):
    return ["score", str(corpus), "--metrics", METRICS, "--encoder", str(model), "--format", "json", *more]


def score(corpus, model):
    called = [sys.executable, "-c", SCORE, *arguments(corpus, model)]
    done = subprocess.run(called, capture_output=True, text=True, check=True)
    return json.loads(done.stdout), done.stderr.splitlines()[-1] == "True"


def test_with_a_warm_cache_no_model_is_loaded_and_without_one_nothing_is_kept(
    corpus, model, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path / "cache"))
    cold, loaded = score(corpus, model)
    assert loaded
    warm, loaded = score(corpus, model)
    assert not loaded
    assert warm == cold
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path / "other"))
    # In this process, which has torch at hand.
    assert main(arguments(corpus, model, "--no-cache")) == 0
    assert json.loads(capsys.readouterr().out)["scores"] == cold["scores"]
    assert not (tmp_path / "other").exists()
