"""The whole way from conversations and ratings to a gauge, and back to numbers."""

import json

import numpy as np
import pytest
from scipy.special import expit, logit

from dialogauge import evaluate
from dialogauge.corpus import Corpus, Turn
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import InputError
from dialogauge.learned.directory import CARD, FILES, README, WEIGHTS
from dialogauge.learned.gauge.data import GaugeFiles, read_data
from dialogauge.learned.gauge.model import PARTS, open_gauge
from dialogauge.learned.gauge.train import taught, train, train_gauge
from dialogauge.learned.training.checkpoint import checkpoint_folder
from dialogauge.stats.correlations import spearman
from tests.encode.models import build
from tests.learned.gauge.talk import TALK, quick, rated, write_lines, write_talk
from tests.learned.interrupted import break_off, kill_training
from tests.learned.small import torch, write_vectors

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("train")


@pytest.fixture(scope="module")
def bert(folder):
    """The name of a small BERT without any dropout of its own."""
    return str(build("bert", folder / "bert", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))


@pytest.fixture(scope="module")
def said(folder):
    return write_talk(folder / "talk.jsonl", 60)


@pytest.fixture(scope="module")
def ratings(folder):
    return write_lines(folder / "rated.jsonl", rated(90))


@pytest.fixture
def call(said, bert, tmp_path):
    """Trains on the conversations, to `m` unless told otherwise."""

    def run(name="m", recipe=None, *, encoder=bert, teacher=None, half=False, overwrite=False, **files):
        return train_gauge(
            GaugeFiles([said], **{"share": 0.2, **files}),
            tmp_path / name,
            recipe or quick(),
            encoder=encoder,
            teacher=teacher,
            half=half,
            overwrite=overwrite,
            cache=False,
        )

    return run


@pytest.fixture(scope="module")
def learned(said, bert, folder):
    """A gauge that has learned what conversations teach."""
    recipe = quick(epochs=8, stop=8)
    return train_gauge(GaugeFiles([said], share=0.2), folder / "learned", recipe, encoder=bert, cache=False)


def test_what_is_written(call, bert, said, ratings, tmp_path):
    result = call(recipe=quick("adapter", epochs=2, rating_epochs=2, weight=0.3), ratings=[ratings], half=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m"]
    assert sorted(path.name for path in result.directory.iterdir()) == sorted(FILES)
    card = json.loads((result.directory / CARD).read_text())
    assert (card["kind"], card["encoder"]["name"], card["languages"]) == ("gauge", bert, ["English"])
    assert card["network"] == {"width": 32, "rank": 4, "pool": "mean", "context": 3, "dropout": 0.0}
    assert card["calibration"]["weight"] == 0.3
    training = card["training"]
    assert training["kinds"]["human"] == 96  # 48 conversations of two exchanges each
    assert sum(training["kinds"].values()) == training["examples"]
    assert [file["name"] for file in training["conversations"]] == ["talk.jsonl"]
    assert [file["name"] for file in training["ratings"]] == ["rated.jsonl"]
    assert (training["rated"], training["dimensions"]) == (90, {"rated.jsonl": "overall"})
    assert (card["validation"]["rated"], training["teachers"]) == (9, [])
    assert [(curve["from"], len(curve["epochs"])) for curve in card["curves"]] == [("conversations", 2), ("ratings", 2)]
    assert card["curves"][1]["best"] == 2
    assert str(said.parent) not in json.dumps({**card, "encoder": None})
    assert {array.dtype for array in open_gauge(tmp_path / "m").saved.weights.values()} == {np.dtype(np.float16)}
    text = (result.directory / README).read_text()
    assert text.startswith("# m\n")
    assert "low-rank adapters of rank 4" in text
    assert "Then from 90 replies that people rated: rated.jsonl (overall)." in text
    real, alike = result.caveats
    assert (real.code, alike.code) == ("few_real", "few_alike")
    assert real.message.startswith("24 real replies held back, fewer than 100")  # of 12 conversations


def test_ratings_held_back_that_are_all_the_same_say_nothing(call, tmp_path):
    alike = [{**row, "ratings": {"overall": [1 if row["id"] == "0" else 3]}} for row in rated(20)]
    result = call(recipe=quick(epochs=1, rating_epochs=1), ratings=[write_lines(tmp_path / "alike.jsonl", alike)])
    assert (result.card["validation"]["rated"], result.card["validation"]["ratings"]) == (2, None)
    assert "nan" not in str(result)


def test_it_learns_what_a_reply_of_people_is(learned):
    """Of conversations held back; half of all pairs would be right by chance."""
    accuracy = learned.card["validation"]["accuracy"]
    assert {"elsewhere", "same_conversation", "parrot", "generic", "cut", "drop"} <= accuracy.keys()
    assert np.mean(list(accuracy.values())) > 0.85
    assert min(accuracy[kind] for kind in ("elsewhere", "same_conversation", "parrot")) > 0.8
    stages = learned.card["curves"][0]["epochs"]
    assert stages[-1]["validation_loss"] < 0.8 * stages[0]["validation_loss"]


def test_what_is_learned_is_what_is_scored(learned):
    """People's replies are typical of people, about 50; answers to another question are not, and say so in a part."""
    questions = [question for question, _, _ in TALK.values()]
    answers = [answer for _, answer, _ in TALK.values()]
    turns = [
        Turn(str(place), answers[(place + shift) % 3], (question,), system=system)
        for shift, system in ((0, "right"), (1, "wrong"))
        for place, question in enumerate(questions)
    ]
    result = evaluate(Corpus(turns), f"gauge[model={learned.directory}]", cache=False)
    right, wrong = (
        {
            part: result.score(system, f"gauge[model=learned]{part}").value
            for part in ("", ".relevance", ".fluency", ".specificity")
        }
        for system in ("right", "wrong")
    )
    assert 25 < right[""] < 75
    assert wrong[""] < right[""] / 2
    assert wrong[".relevance"] < right[".relevance"] / 2


def test_the_metric_says_what_the_network_said(said, bert, ratings, tmp_path):
    """The network at the end of training, and the directory alone."""
    files, recipe = GaugeFiles([said], ratings=[ratings], share=0.2), quick("adapter", rating_epochs=1)
    data = read_data(files, recipe)
    trained = train(data, Encoders().get(bert), recipe)
    train_gauge(files, tmp_path / "m", recipe, encoder=bert, cache=False)
    model = open_gauge(tmp_path / "m")
    held = [(data.examples.contexts[row], data.examples.replies[row]) for row in data.held.tolist()]
    found = model.ready(Encoders()).gauged([[context] for context, _ in held], [reply for _, reply in held])
    real = np.array([data.examples.kinds[row] == "human" for row in data.held.tolist()])
    for place, part in enumerate(PARTS):
        logits = found.logits[real, place]
        np.testing.assert_allclose(
            np.quantile(logits, [0.1, 0.5]), np.array(model.calibration.parts[part])[[9, 49]], atol=1e-4
        )
    saved = model.saved.weights
    assert all(
        torch.equal(torch.from_numpy(saved[name].copy()), tensor)
        for name, tensor in trained.fitted["ratings"].weights.items()
    )


def rating_ranks(directory):
    """How well the gauge's score follows the ratings that it was taught."""
    rows = rated(90)
    logits = (
        open_gauge(directory)
        .ready(Encoders())
        .gauged([row["context"] for row in rows], [row["response"] for row in rows])
        .logits
    )
    return spearman(logits[:, 0], [np.mean(row["ratings"]["overall"]) for row in rows])


def test_ratings_are_followed(call, learned, ratings, tmp_path):
    """People like the shortest here, which conversations alone do not say."""
    result = call(recipe=quick(epochs=4, rating_epochs=10), ratings=[ratings])
    assert rating_ranks(tmp_path / "m") > 0.8 > rating_ranks(learned.directory)
    assert result.card["validation"]["ratings"] > 0.7


def test_a_teacher_says_what_replies_are_worth(learned, said, bert, call, tmp_path):
    data = read_data(GaugeFiles([said], share=0.2), quick())
    teacher = open_gauge(learned.directory)
    targets = taught(data.examples, [teacher], quick(), CPU).targets
    pairs = zip(data.examples.contexts, data.examples.replies, strict=True)
    judged = teacher.ready(Encoders()).gauged(*zip(*(([context], reply) for context, reply in pairs), strict=True))
    np.testing.assert_allclose(targets, expit(judged.logits), atol=1e-4)
    result = call(recipe=quick(epochs=10, stop=10), teacher=learned.directory)
    pupil = open_gauge(tmp_path / "m").ready(Encoders())
    rows = data.held.tolist()
    said_of = pupil.gauged(
        [[data.examples.contexts[row]] for row in rows], [data.examples.replies[row] for row in rows]
    )
    assert spearman(said_of.logits[:, 0], judged.logits[rows, 0]) > 0.7
    assert [each["identity"] for each in result.card["training"]["teachers"]] == [teacher.saved.identity]
    assert f"said by a teacher, {teacher.saved.identity}" in (tmp_path / "m" / README).read_text()


def machines(said, folder):
    """Replies of a machine to the first utterance of conversations, and the right ones; the longer, the likelier."""
    rows = []
    for name, line in enumerate(said.read_text().splitlines()):
        utterances = json.loads(line)["utterances"]
        for system, reply in (("human", utterances[1]), ("lm", "not nice today ."), ("generic", "nice .")):
            extra = {"log_p_given": -1.0, "log_p_alone": -float(len(reply)), "tokens": 4}
            rows.append({"id": f"{name}{system}", "dialogue": str(name), "context": utterances[:1], "response": reply})
            rows[-1] |= {"system": system, "extra": extra}
    return write_lines(folder / "machines.jsonl", rows)


def test_machine_made_replies_are_learned_after_conversations(call, said, tmp_path):
    result = call(recipe=quick(epochs=2, stop=2), replies=[machines(said, tmp_path)])
    assert [curve["from"] for curve in result.card["curves"]] == ["conversations", "replies"]
    assert result.card["validation"]["accuracy"]["lm"] > 0.9


def test_of_many_exchanges_some_are_drawn(said):
    few = read_data(GaugeFiles([said], share=0.2), quick(exchanges=30))
    assert few.examples.kinds.count("human") == 30
    assert read_data(GaugeFiles([said], share=0.2), quick(exchanges=30)).digest() == few.digest()
    assert read_data(GaugeFiles([said], share=0.2), quick(exchanges=30, seed=1)).digest() != few.digest()


def test_teachers_and_a_language_model_are_heard_together(learned, said, tmp_path):
    """One standard deviation of a teacher counts as much as one of another; that of the mutual information by its
    weight. Conversations, of which a language model said nothing, have the teachers' alone."""
    data = read_data(GaugeFiles([said], replies=[machines(said, tmp_path)], share=0.2), quick())
    teacher = open_gauge(learned.directory)
    alone, twice, likely = (
        logit(taught(data.examples, teachers, quick(likelihood=weight), CPU).targets[:, 0].astype(float))
        for teachers, weight in (([teacher], 0), ([teacher, teacher], 0), ([teacher], 2.0))
    )
    np.testing.assert_allclose(twice, alone, atol=1e-4)
    assert (likely.mean(), likely.std()) == pytest.approx((alone.mean(), alone.std()), abs=1e-3)
    said_of = (alone - alone.mean()) / alone.std()
    known = ~np.isnan(data.examples.pmi)
    pmi = data.examples.pmi[known].astype(float)
    added = np.zeros(len(alone))
    added[known] = 2 * (pmi - pmi.mean()) / pmi.std()
    np.testing.assert_allclose(spearman(likely, said_of + added), 1, atol=1e-6)


def test_a_teacher_of_other_contexts_is_refused(call, learned):
    with pytest.raises(InputError, match="the teacher looks at 3 utterances before a reply, what it is to teach at 2"):
        call(recipe=quick(context=2), teacher=learned.directory)


def test_likeness_comes_from_replies_to_the_same_utterance(call, tmp_path):
    talk = [["how are you ?", f"{word} today"] for word in ("nice", "fine", "not nice")] * 10
    asked = [[f"{word} ?", reply] for word in "abcdefghijklmnopqrstuvwxy" for reply in ("the dog", "my dog")]
    rows = ({"dialogue": str(name), "utterances": said} for name, said in enumerate([*talk, *asked]))
    path = write_lines(tmp_path / "talk.jsonl", rows)
    encoder = str(build("bert", tmp_path / "bert"))
    result = train_gauge(path, tmp_path / "m", quick(epochs=1), encoder=encoder, cache=False)
    mean, deviation = result.card["calibration"]["likeness"]
    vectors = Encoders().get(encoder).pooled(["the dog", "my dog", "nice today", "fine today"], "mean").vectors
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = [float(units[0] @ units[1])] * 25 + [float(units[2] @ units[3])]
    assert mean == pytest.approx(np.mean(cosines), abs=1e-3)
    assert deviation == pytest.approx(np.std(cosines, ddof=1), abs=1e-3)
    assert not any(caveat.code == "few_alike" for caveat in result.caveats)


def test_same_seed_same_bytes(call, ratings, tmp_path):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        call(name, quick("adapter", seed=seed, epochs=1, rating_epochs=1, dropout=0.1), ratings=[ratings])
    first, again, other = ((tmp_path / name / WEIGHTS).read_bytes() for name in "abc")
    assert first == again != other


SLOWLY = {"epochs": 6, "stop": 6, "rating_epochs": 6, "dropout": 0.1}


def assert_same_model(folder, other, name="m"):
    """But for the time that it took."""
    assert (folder / name / WEIGHTS).read_bytes() == (folder / other / WEIGHTS).read_bytes()
    cards = [json.loads((folder / each / CARD).read_text()) for each in (name, other)]
    for card in cards:
        del card["training"]["seconds"]
    assert cards[0] == cards[1]
    assert not checkpoint_folder(folder / name).exists()


@pytest.fixture(scope="module")
def whole(said, bert, ratings, folder):
    """Trained without a break, in a directory called as the others are."""
    files, recipe = GaugeFiles([said], ratings=[ratings], share=0.2), quick("adapter", **SLOWLY)
    return train_gauge(files, folder / "whole" / "m", recipe, encoder=bert, cache=False).directory


@pytest.mark.parametrize("after", [2, 8])
def test_broken_off_and_run_again(call, whole, ratings, tmp_path, monkeypatch, after):
    """While it learns from conversations, and from ratings."""
    recipe = quick("adapter", **SLOWLY)
    with monkeypatch.context() as patch:
        break_off(patch, after)
        with pytest.raises(KeyboardInterrupt):
            call("m", recipe, ratings=[ratings])
    call("m", recipe, ratings=[ratings])
    assert_same_model(tmp_path, whole)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["conversations", "ratings"])
def test_killed_in_mid_training_and_run_again(call, whole, said, ratings, bert, tmp_path, part):
    """While it learns from conversations, and from ratings."""
    recipe = quick("adapter", **SLOWLY)
    options = {"out": tmp_path / "m", "encoder": bert, "ratings": ratings, "validation_share": 0.2}
    options |= {name: getattr(recipe, name) for name in ("rank", "rate", "batch", *SLOWLY)}
    checkpoint = checkpoint_folder(tmp_path / "m") / f"{part}.safetensors"
    kill_training("gauge", [said], options, checkpoint)
    assert not (tmp_path / "m").exists()
    assert 1 <= checkpoint.read_bytes().count(b"validation_loss") < 6
    call("m", recipe, ratings=[ratings])
    assert_same_model(tmp_path, whole)


@pytest.mark.parametrize("other", ["recipe", "ratings", "share", "teacher"])
def test_checkpoints_of_something_else_are_refused(call, learned, ratings, tmp_path, monkeypatch, other):
    second = {
        "recipe": {"recipe": quick(rate=0.01)},
        "ratings": {"ratings": [ratings]},
        "share": {"share": 0.4},
        "teacher": {"teacher": learned.directory},
    }[other]
    with monkeypatch.context() as patch:
        break_off(patch)
        with pytest.raises(KeyboardInterrupt):
            call()
    with pytest.raises(InputError, match="other data or another recipe; delete it to begin anew"):
        call(**second)


def test_an_encoder_without_layers(tmp_path, said):
    with pytest.raises(InputError, match="is no transformer, and has no weights to be tuned"):
        train_gauge(said, tmp_path / "m", encoder=write_vectors(tmp_path / "words.txt"), cache=False)


def test_a_model_that_is_there_is_refused_before_anything_is_read(tmp_path):
    (tmp_path / "m").mkdir()
    with pytest.raises(InputError, match="is there already"):
        train_gauge(tmp_path / "missing.jsonl", tmp_path / "m", encoder="no such encoder")
