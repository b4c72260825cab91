"""The whole way from files to a model directory."""

import json

import numpy as np
import pytest

from dialogauge.corpus import load
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import InputError
from dialogauge.learned.directory import CARD, FILES, README, WEIGHTS
from dialogauge.learned.ruber.inputs import RuberShape
from dialogauge.learned.ruber.model import open_ruber
from dialogauge.learned.ruber.recipe import TOWERS
from dialogauge.learned.ruber.train import Conversations, checkpoint_folder, train_ruber
from dialogauge.learned.ruber.training_data import make_training_data, read_data
from dialogauge.learned.training.checkpoint import Checkpoint
from tests.encode.models import build
from tests.learned.interrupted import break_off, kill_training
from tests.learned.ruber.conversations import dialogues, quick, quick_towers, telling, write


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    return write(tmp_path_factory.mktemp("said") / "talk.jsonl", dialogues(30))


@pytest.fixture
def call(said, topic_vectors, tmp_path):
    """Trains on the conversations, to `m` unless told otherwise."""

    def run(name="m", recipe=None, given=None, **options):
        conversations = given or Conversations([said], share=0.3)
        return train_ruber(
            conversations, tmp_path / name, recipe or quick(), encoder=topic_vectors, cache=False, **options
        )

    return run


def test_what_is_written(call, said, topic_vectors, tmp_path):
    result = call(recipe=quick(members=2, context=2, sentence="max"))
    assert result.directory == tmp_path / "m"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m"]
    assert sorted(path.name for path in result.directory.iterdir()) == sorted(FILES)
    card = json.loads((result.directory / CARD).read_text())
    assert card["encoder"] == {
        "name": topic_vectors,
        "identity": open_ruber(tmp_path / "m").saved.card["encoder"]["identity"],
    }
    network = card["network"]
    assert (network["width"], network["sentence"], network["members"], network["context"]) == (8, "max", 2, 2)
    assert card["training"]["recipe"]["members"] == 2
    assert card["training"]["files"][0]["name"] == said.name
    assert str(said.parent) not in (result.directory / CARD).read_text().replace(topic_vectors, "")
    assert card["validation"]["pairs"] + card["training"]["pairs"] == 60
    assert [len(curve["epochs"]) for curve in card["curves"]] == [3, 3]
    for curve in card["curves"]:
        losses = [epoch["validation_loss"] for epoch in curve["epochs"]]
        assert curve["best"] == losses.index(min(losses)) + 1
    model = open_ruber(tmp_path / "m")
    assert (model.members, model.context) == (2, 2)
    assert model.normalisation.unreferenced.low < model.normalisation.unreferenced.high


def test_what_the_readme_says(call, topic_vectors):
    result = call("my-model")
    text = (result.directory / README).read_text()
    card = result.card
    assert text.startswith("# my-model\n")
    assert card["encoder"]["identity"] in text
    assert f"{card['training']['pairs']} pairs of {card['training']['dialogues']} dialogues" in text
    assert f"{100 * card['validation']['ranking_accuracy']:.2f} %" in text
    assert "ruber_unreferenced[model=my-model]" in text
    assert card["training"]["files"][0]["sha256"] in text


def test_towers_are_the_default(said, topic_vectors, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr("dialogauge.learned.ruber.train.read_data", lambda *given: seen.append(given[2]) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        train_ruber(said, tmp_path / "m", encoder=topic_vectors, cache=False)
    assert seen == [TOWERS]


def test_towers_with_word_vectors(call, topic_vectors, tmp_path):
    result = call(recipe=quick_towers(members=2))
    assert result.card["network"] == {
        "width": 8,
        "network": "towers",
        "sentence": "mean",
        "layers": (),
        "dropout": 0.1,
        "members": 2,
        "context": 2,
    }
    model = open_ruber(tmp_path / "m")
    assert (model.shape, model.members, model.context) == (RuberShape(8, "towers", dropout=0.1), 2, 2)
    related = model.relatedness(Encoders().get(topic_vectors), [["ask0"], ["ask0", "say0 now"]], ["say0 now", "oh0"])
    assert ((related.values > 0) & (related.values < 1)).all()
    text = (tmp_path / "m" / README).read_text()
    assert "two towers" in text
    assert "the last 2 utterances" in text
    assert "softmax over the responses of a batch" in text
    assert "layers" not in text


def test_towers_over_layers_of_a_transformer(said, tmp_path):
    bert = str(build("bert", tmp_path / "bert"))
    given = Conversations([said], share=0.3)
    result = train_ruber(given, tmp_path / "m", quick_towers(epochs=1), encoder=bert, half=True, cache=False)
    kept = json.loads((tmp_path / "m" / CARD).read_text())
    assert kept["network"]["layers"] == [3, 1]
    assert kept["training"]["recipe"]["layers"] == []  # as the recipe leaves it open
    model = open_ruber(tmp_path / "m")
    assert model.shape == RuberShape(32, "towers", layers=(3, 1), dropout=0.1)
    text = (result.directory / README).read_text()
    assert "two towers" in text
    assert "side by side from layers 3, 1." in text
    assert {array.dtype for array in model.saved.weights.values()} == {np.dtype(np.float16)}
    related = model.relatedness(Encoders().get(bert), [["ask0", "say0 now"]], ["oh0"])
    assert 0 < related.values[0] < 1


@pytest.mark.parametrize("network", ["ruber", "towers"])
def test_a_model_scores_as_it_was_validated(call, said, topic_vectors, tmp_path, network):
    """The pairs held back, scored through the directory, give the accuracy that the card has."""
    valid = write(tmp_path / "valid.jsonl", telling(12))
    recipe = {"ruber": quick, "towers": quick_towers}[network](epochs=2)
    result = call(recipe=recipe, given=Conversations([said], [valid]))
    model = open_ruber(result.directory)
    data = read_data(load([said]), load([valid]), recipe)
    training_data = make_training_data(data, Encoders().get(topic_vectors), recipe)
    answers = np.column_stack([data.held.responses, training_data.held.negatives])
    contexts = [turn.context for turn in load([valid]) for _ in range(answers.shape[1])]
    related = model.relatedness(Encoders().get(topic_vectors), contexts, [data.texts[row] for row in answers.ravel()])
    scores = related.values.reshape(answers.shape)
    won = (scores[:, :1] > scores[:, 1:]) + (scores[:, :1] == scores[:, 1:]) / 2
    assert won.mean() == pytest.approx(result.card["validation"]["ranking_accuracy"], abs=0.02)
    used = model.normalisation.unreferenced
    assert (used.low, used.high) == pytest.approx((scores.min(), scores.max()), abs=1e-4)


@pytest.mark.parametrize("make", [quick, quick_towers])
def test_same_seed_same_bytes(call, tmp_path, make):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        call(name, make(seed=seed))
    first, again, other = ((tmp_path / name / WEIGHTS).read_bytes() for name in "abc")
    assert first == again
    assert first != other
    cards = [json.loads((tmp_path / name / CARD).read_text()) for name in "ab"]
    for card in cards:
        del card["training"]["seconds"]
    assert cards[0] == cards[1]


def test_half_the_size(call, tmp_path):
    call("whole")
    call("half", half=True)
    sizes = [(tmp_path / name / WEIGHTS).stat().st_size for name in ("whole", "half")]
    assert sizes[1] < 0.52 * sizes[0]
    ranges = [open_ruber(tmp_path / name).normalisation for name in ("whole", "half")]
    assert ranges[0] == ranges[1]


def test_a_model_that_is_there_is_refused_before_anything_is_read(tmp_path):
    (tmp_path / "m").mkdir()
    with pytest.raises(InputError, match="is there already"):
        train_ruber(tmp_path / "missing.jsonl", tmp_path / "m", encoder="no such encoder")


def test_broken_off_in_the_second_network_the_same_call_goes_on(call, tmp_path, monkeypatch):
    recipe = quick_towers(members=2)
    call("whole", recipe)
    with monkeypatch.context() as patch:
        break_off(patch, 4)
        with pytest.raises(KeyboardInterrupt):
            call("m", recipe)
    assert not (tmp_path / "m").exists()
    with monkeypatch.context() as patch:
        written = []
        plain = Checkpoint.write
        patch.setattr(Checkpoint, "write", lambda self, *rest: (written.append(self.path.name), plain(self, *rest)))
        call("m", recipe)
    assert len(written) == 2
    assert (tmp_path / "m" / WEIGHTS).read_bytes() == (tmp_path / "whole" / WEIGHTS).read_bytes()
    assert not checkpoint_folder(tmp_path / "m").exists()


@pytest.mark.parametrize("other", ["recipe", "files", "share", "leave out"])
def test_checkpoints_of_something_else_are_refused(call, said, tmp_path, monkeypatch, other):
    def left_out(*texts):
        path = tmp_path / f"{'-'.join(texts)}.jsonl"
        path.write_text("".join(json.dumps({"context": [text], "response": "x"}) + "\n" for text in texts))
        return Conversations([said], [write(tmp_path / "valid.jsonl", dialogues(6))], leave_out=[path])

    first, second = {
        "recipe": ({}, {"recipe": quick(rate=0.01)}),
        "files": ({}, {"given": Conversations([write(tmp_path / "talk.jsonl", dialogues(33)[3:])], share=0.3)}),
        "share": ({}, {"given": Conversations([said], share=0.5)}),
        # As many pairs are left out, and other ones.
        "leave out": ({"given": left_out("say0 now")}, {"given": left_out("say1 now")}),
    }[other]
    with monkeypatch.context() as patch:
        break_off(patch, 1)
        with pytest.raises(KeyboardInterrupt):
            call(**first)
    with pytest.raises(InputError, match="other data or another recipe; delete it to begin anew"):
        call(**second)
    assert not (tmp_path / "m").exists()


def test_a_damaged_checkpoint_is_a_clear_error(call, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        break_off(patch, 1)
        with pytest.raises(KeyboardInterrupt):
            call()
    (file,) = checkpoint_folder(tmp_path / "m").iterdir()
    file.write_bytes(file.read_bytes()[:1000])
    with pytest.raises(InputError, match="damaged.*delete it to begin anew") as raised:
        call()
    assert raised.value.path == file


def test_nothing_of_the_users_is_removed(call, tmp_path):
    """A folder beside the model may have the name of ours for checkpoints."""
    folder = checkpoint_folder(tmp_path / "m")
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    call()
    assert (folder / "thesis.tex").read_text() == "years of work"


def test_overwrite(call, tmp_path):
    call()
    before = (tmp_path / "m" / WEIGHTS).read_bytes()
    with pytest.raises(InputError, match="is there already and was left as it is"):
        call(recipe=quick(seed=1))
    assert (tmp_path / "m" / WEIGHTS).read_bytes() == before
    call(recipe=quick(seed=1), overwrite=True)
    assert (tmp_path / "m" / WEIGHTS).read_bytes() != before
    (tmp_path / "m" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="holds more than a model"):
        call(overwrite=True)


def test_caveats(call, tmp_path):
    path = write(tmp_path / "talk.jsonl", [*dialogues(10), ["ask0", " "], ["alone"]])
    result = call(given=Conversations([path], share=0.3))
    assert {caveat.code for caveat in result.caveats} >= {"empty_pairs", "few_held"}


@pytest.mark.slow
def test_killed_in_mid_training_and_run_again(call, said, topic_vectors, tmp_path):
    """A real process, killed with no chance to tidy up."""
    recipe = quick(epochs=25)
    call("whole", recipe)
    target = tmp_path / "m"
    options = {"out": target, "encoder": topic_vectors, "recipe": "paper", "rate": 0.003, "batch": 8, "epochs": 25}
    checkpoint = checkpoint_folder(target) / "0.safetensors"
    kill_training("ruber", [said], {**options, "validation_share": 0.3}, checkpoint)
    assert not target.exists()
    header = checkpoint.read_bytes()[:200_000]
    assert 1 <= header.count(b"ranking_accuracy") < 25
    call("m", recipe)
    assert (target / WEIGHTS).read_bytes() == (tmp_path / "whole" / WEIGHTS).read_bytes()
    curves = [json.loads((tmp_path / name / CARD).read_text())["curves"] for name in ("m", "whole")]
    assert curves[0] == curves[1]
    assert not checkpoint_folder(target).exists()
