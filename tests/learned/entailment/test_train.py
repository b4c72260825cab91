"""The whole way from files of pairs to a model directory, and back to numbers."""

import json

import numpy as np
import pytest
from scipy.special import softmax

from dialogauge import evaluate
from dialogauge.corpus import Corpus, Turn
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.encode.static import open_static
from dialogauge.errors import InputError
from dialogauge.learned.directory import CARD, FILES, README, WEIGHTS
from dialogauge.learned.entailment.data import Files, read_data
from dialogauge.learned.entailment.model import open_entailment
from dialogauge.learned.entailment.train import train, train_entailment
from dialogauge.learned.training.checkpoint import checkpoint_folder
from dialogauge.learned.training.loop import Loop
from dialogauge.metrics.learned.entailment import Entailment
from tests.encode.models import build, open_model
from tests.learned.entailment.pairs import pairs, quick, quiet_bert, task_of, write_pairs, write_short_vectors
from tests.learned.interrupted import break_off, kill_training
from tests.learned.small import torch

KINDS = ["esim", "adapter", "transformer"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("train")


@pytest.fixture(scope="module")
def encoders(folder):
    """Names of encoders by the kind of network; the small BERT has dropout."""
    words = write_short_vectors(folder / "words.txt")
    bert = str(build("bert", folder / "bert"))
    return {"esim": words, "adapter": bert, "transformer": bert}


@pytest.fixture(scope="module")
def said(folder):
    return write_pairs(folder / "pairs.jsonl", pairs())


@pytest.fixture
def call(said, encoders, tmp_path):
    """Trains on the pairs, to `m` unless told otherwise."""

    def run(kind="esim", name="m", given=None, *, encoder=None, half=False, overwrite=False, **recipe):
        return train_entailment(
            given or Files([said], share=0.2),
            tmp_path / name,
            quick(kind, **recipe),
            encoder=encoder or encoders[kind],
            cache=False,
            half=half,
            overwrite=overwrite,
        )

    return run


def test_what_is_written(call, said, encoders, tmp_path):
    test = write_pairs(tmp_path / "more.jsonl", pairs(9))
    result = call(given=Files([said], tests=[test], share=0.2), units=5, dropout=0.1)
    assert result.directory == tmp_path / "m"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "more.jsonl"]
    assert sorted(path.name for path in result.directory.iterdir()) == sorted(FILES)
    card = json.loads((result.directory / CARD).read_text())
    assert card["kind"] == "entailment"
    assert card["encoder"]["name"] == encoders["esim"]
    assert card["network"] == {
        "network": "esim",
        "width": 8,
        "rank": 0,
        "pool": "cls",
        "units": 5,
        "dropout": 0.1,
        "hypothesis_only": False,
    }
    assert (card["training"]["pairs"], card["validation"]["pairs"], card["validation"]["groups"]) == (45, 9, 1)
    assert card["training"]["labels"] == {"entailment": 15, "neutral": 15, "contradiction": 15}
    assert card["training"]["recipe"]["units"] == 5
    assert [file["name"] for file in card["training"]["files"]] == ["pairs.jsonl"]
    assert [file["name"] for file in card["training"]["test_files"]] == ["more.jsonl"]
    assert str(said.parent) not in (result.directory / CARD).read_text().replace(encoders["esim"], "")
    assert card["validation"]["share"] == 0.2
    assert card["tests"]["more.jsonl"]["pairs"] == 9
    (curve,) = card["curves"]
    assert [stage["epoch"] for stage in curve["epochs"]] == [1, 2, 3]
    accuracies = [(-stage["accuracy"], stage["validation_loss"]) for stage in curve["epochs"]]
    assert curve["best"] == accuracies.index(min(accuracies)) + 1
    assert open_entailment(tmp_path / "m").temperature == card["calibration"]["temperature"]
    assert {caveat.code for caveat in result.caveats} == {"few_held", "seen_pairs"}


def test_the_share_is_only_named_where_it_was_used(call, tmp_path):
    rows = [*pairs(27, split="train"), *pairs(9, split="validation")]
    result = call(given=Files([write_pairs(tmp_path / "split.jsonl", rows)]), epochs=1)
    assert result.card["validation"]["share"] is None
    assert (result.card["validation"]["pairs"], result.card["training"]["pairs"]) == (9, 27)


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_readme_says(call, kind):
    result = call(kind, "my-model", epochs=1, hypothesis_only=kind == "esim")
    text = (result.directory / README).read_text()
    card = result.card
    assert text.startswith("# my-model\n")
    assert "entailment[model=my-model]" in text
    assert card["encoder"]["identity"] in text
    assert card["training"]["files"][0]["sha256"] in text
    assert f"{card['validation']['accuracy']:.4f} [{card['validation']['low']:.4f}" in text
    assert "45 pairs: 15 entailment, 15 neutral, 15 contradiction." in text
    network = {"esim": "ESIM with 8 units", "adapter": "adapters of rank 4", "transformer": "all weights tuned"}[kind]
    assert network in text
    assert ("The premise was hidden" in text) == (kind == "esim")
    for row in card["validation"]["confusion"]:
        assert " | ".join(map(str, row)) in text


@pytest.mark.parametrize("kind", KINDS)
def test_the_metric_says_what_the_network_said(said, encoders, folder, tmp_path, kind):
    """The network at the end of training, the directory alone, and the metric with a cold and a warm cache."""
    rate, epochs = {"esim": (0.02, 4), "adapter": (0.003, 2), "transformer": (0.001, 2)}[kind]
    recipe = quick(kind, epochs=epochs, rate=rate)
    given = Files([said], share=0.2)
    data = read_data(given, recipe.seed)
    made = task_of(data, Encoders().get(encoders[kind]), recipe)
    Loop(made).run()
    logits = made.outputs(np.arange(len(data.pairs)))
    for half in (False, True):
        options = {"encoder": encoders[kind], "cache": False, "half": half, "overwrite": True}
        train_entailment(given, tmp_path / "m", recipe, **options)
        check_against(logits, data, tmp_path, 0.02 if half else 1e-4)


def check_against(logits, data, folder, near):
    model = open_entailment(folder / "m")
    assert np.ptp(logits, axis=0).min() > 0.05
    found = model.ready(Encoders()).judge.logits(data.pairs.premises, data.pairs.hypotheses).values
    np.testing.assert_allclose(found, logits, atol=near, rtol=0)
    texts = zip(data.pairs.premises, data.pairs.hypotheses, strict=True)
    turns = [Turn(str(row), response, context=tuple(said.split())) for row, (said, response) in enumerate(texts)]
    metric = Entailment(model=str(folder / "m"))
    plain = metric.prepare(Corpus([]), encoders=Encoders()).measure(turns)
    expected = softmax(logits / model.temperature, axis=1)
    np.testing.assert_allclose(plain[:, 1:4], expected, atol=near / min(model.temperature, 1), rtol=0)
    cache = Cache(folder / "cache")
    cold, warm = (metric.prepare(Corpus([]), encoders=Encoders(cache)).measure(turns) for _ in range(2))
    np.testing.assert_array_equal(cold, warm)
    np.testing.assert_allclose(cold, plain, atol=1e-5)


def test_what_the_card_says_of_pairs_held_back_is_what_the_directory_gives(call, said, tmp_path):
    result = call("adapter", epochs=2)
    data = read_data(Files([said], share=0.2), 0)
    texts = [(data.pairs.premises[row], data.pairs.hypotheses[row]) for row in data.held]
    judged = open_entailment(tmp_path / "m").ready(Encoders()).judged(*zip(*texts, strict=True))
    right = judged.probabilities.argmax(axis=1) == data.pairs.labels[data.held]
    assert result.card["validation"]["accuracy"] == pytest.approx(right.mean(), abs=1e-6)


def test_all_pairs_held_back_are_judged_though_fewer_are_watched(call, monkeypatch):
    monkeypatch.setattr("dialogauge.learned.training.token_pairs.WATCHED", 4)
    assert call(epochs=1).card["validation"]["pairs"] == 9


@pytest.mark.parametrize("kind", ["esim", "adapter"])
def test_same_seed_same_bytes(call, tmp_path, kind):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        call(kind, name, seed=seed, epochs=1, dropout=0.1)
    first, again, other = ((tmp_path / name / WEIGHTS).read_bytes() for name in "abc")
    assert first == again
    assert first != other
    cards = [json.loads((tmp_path / name / CARD).read_text()) for name in "ab"]
    for card in cards:
        del card["training"]["seconds"]
    assert cards[0] == cards[1]


def test_half_the_size(call, tmp_path):
    for name, half in (("whole", False), ("half", True)):
        call("adapter", name, half=half, epochs=1)
    sizes = [(tmp_path / name / WEIGHTS).stat().st_size for name in ("whole", "half")]
    assert sizes[1] < 0.65 * sizes[0]  # names take as much in both


def test_more_than_one_kind_of_encoder(call, encoders, tmp_path):
    """ESIM over a transformer's vectors."""
    call(encoder=encoders["adapter"], epochs=1)
    model = open_entailment(tmp_path / "m")
    assert model.shape.width == 32
    assert model.ready(Encoders()).judged(["dog"], ["nice"]).probabilities.sum() == pytest.approx(1)


@pytest.mark.parametrize("pool", ["mean", "max"])
def test_poolings(call, pool, tmp_path):
    call("adapter", pool=pool, epochs=1)
    assert open_entailment(tmp_path / "m").shape.pool == pool


@pytest.mark.parametrize("family", ["roberta", "distilbert", "mpnet", "electra", "xlnet"])
def test_every_family_of_transformers(call, family, tmp_path):
    encoder = str(build(family, tmp_path / family))
    call("adapter", encoder=encoder, epochs=1)
    model = open_entailment(tmp_path / "m")
    found = model.ready(Encoders()).judged(["hello dog", "weather " * 60], ["nice", "eat"])
    assert found.cut.tolist() == [False, True]


def test_a_model_that_is_there_is_refused_before_anything_is_read(tmp_path):
    (tmp_path / "m").mkdir()
    with pytest.raises(InputError, match="is there already"):
        train_entailment(tmp_path / "missing.jsonl", tmp_path / "m", encoder="no such encoder")


def test_overwrite(call, tmp_path):
    call(epochs=1)
    before = (tmp_path / "m" / WEIGHTS).read_bytes()
    with pytest.raises(InputError, match="is there already and was left as it is"):
        call(epochs=1, seed=1)
    call(epochs=1, seed=1, overwrite=True)
    assert (tmp_path / "m" / WEIGHTS).read_bytes() != before


@pytest.mark.parametrize("other", ["recipe", "files", "share", "encoder"])
def test_checkpoints_of_something_else_are_refused(call, said, tmp_path, monkeypatch, other):
    second = {
        "recipe": {"rate": 0.01},
        "files": {"given": Files([write_pairs(tmp_path / "other.jsonl", pairs(rule="premise"))], share=0.2)},
        "share": {"given": Files([said], share=0.4)},
        "encoder": {"encoder": write_short_vectors(tmp_path / "other.txt", seed=1)},
    }[other]
    with monkeypatch.context() as patch:
        break_off(patch)
        with pytest.raises(KeyboardInterrupt):
            call()
    with pytest.raises(InputError, match="other data or another recipe; delete it to begin anew"):
        call(**second)
    assert not (tmp_path / "m").exists()
    call()
    assert not checkpoint_folder(tmp_path / "m").exists()


@pytest.mark.slow
def test_killed_in_mid_training_and_run_again(call, said, encoders, tmp_path):
    """A real process, killed with no chance to tidy up."""
    kind, epochs = "esim", 8
    call(kind, "whole", epochs=epochs, stop=epochs, dropout=0.1)
    recipe = quick(kind, epochs=epochs, stop=epochs, dropout=0.1)
    target = tmp_path / "m"
    options = {"out": target, "encoder": encoders[kind], "recipe": kind, "validation_share": 0.2}
    options |= {name: getattr(recipe, name) for name in ("rate", "batch", "epochs", "stop", "dropout", "units")}
    checkpoint = checkpoint_folder(target) / "0.safetensors"
    kill_training("entailment", [said], options, checkpoint)
    assert not target.exists()
    assert 1 <= checkpoint.read_bytes().count(b"validation_loss") < epochs
    call(kind, epochs=epochs, stop=epochs, dropout=0.1)
    assert (target / WEIGHTS).read_bytes() == (tmp_path / "whole" / WEIGHTS).read_bytes()
    cards = [json.loads((tmp_path / name / CARD).read_text()) for name in ("m", "whole")]
    for card in cards:
        del card["training"]["seconds"]
    assert cards[0] == cards[1]
    assert not checkpoint_folder(target).exists()


def test_a_tokeniser_of_another_model(call, tmp_path):
    from dialogauge.encode.find import find_model

    directory = build("bert", tmp_path / "bert", vocab_size=20)
    assert find_model(str(directory)).config["vocab_size"] == 20
    with pytest.raises(InputError, match="its tokeniser has a token .*, and the model only 20: one is another's"):
        call("adapter", encoder=str(directory))


def test_what_is_learned_is_what_is_scored(folder, tmp_path):
    """From pairs to a score: a network that has learned everything is right about every turn."""
    path = write_pairs(tmp_path / "pairs.jsonl", pairs())
    encoder = str(quiet_bert(folder))
    recipe = quick("transformer", epochs=12, stop=12)
    result = train_entailment(Files([path], share=0.2), tmp_path / "m", recipe, encoder=encoder, cache=False)
    assert result.card["validation"]["accuracy"] == 1
    turns = [Turn(str(place), row["hypothesis"], tuple(row["premise"])) for place, row in enumerate(pairs(27))]
    found = evaluate(Corpus(turns), f"entailment[model={tmp_path / 'm'}]", cache=False)
    values = {score.metric.partition("].")[2]: score.value for score in found.scores}
    assert [values[f"share_{name}"] for name in ("entailment", "neutral", "contradiction")] == pytest.approx(
        [1 / 3] * 3
    )
    assert values[""] == pytest.approx(1 / 3, abs=0.05)


def test_training_by_hand_is_the_same_training(said, encoders, tmp_path):
    recipe = quick("esim", epochs=2)
    trained = train(
        read_data(Files([said], share=0.2), 0), open_static(encoders["esim"].removeprefix("static:")), recipe
    )
    train_entailment(Files([said], share=0.2), tmp_path / "m", recipe, encoder=encoders["esim"], cache=False)
    saved = open_entailment(tmp_path / "m").saved.weights
    assert saved.keys() == trained.fitted.weights.keys()
    assert all(torch.equal(torch.from_numpy(saved[name].copy()), trained.fitted.weights[name]) for name in saved)
    assert {array.dtype for array in trained.weights(half=True).values()} == {np.dtype(np.float16)}


def test_a_single_file_or_several(encoders, said, tmp_path):
    for name, files in (("one", str(said)), ("two", [said, said])):
        result = train_entailment(
            files, tmp_path / name, quick("esim", epochs=1), encoder=encoders["esim"], cache=False
        )
        assert len(result.card["training"]["files"]) == (1 if name == "one" else 2)


def test_an_encoder_without_words(tmp_path, said, encoders):
    with pytest.raises(InputError, match="is no transformer: choose another, or the recipe esim"):
        train_entailment(said, tmp_path / "m", quick("adapter"), encoder=encoders["esim"], cache=False)
    assert open_model(encoders["adapter"]).identity.startswith("bert@")
