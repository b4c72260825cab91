"""What the networks of the BERT-RUBER paper's tables are trained on, and how they are kept."""

import json
import shutil
from dataclasses import replace

import pytest

from dialogauge.corpus import load
from dialogauge.errors import InputError
from dialogauge.papers.ruber import networks
from dialogauge.papers.ruber.networks import exchanges, rated_file, read_exchanges, read_rated
from dialogauge.papers.ruber.tables import reproduce_ruber_table3
from tests.papers.ruber.test_tables import conversations, rated_pairs, small_world
from tests.shared import shared

ONE = ("word2vec/mean/ranking",)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A world in which the two networks of one row are kept."""
    inputs = replace(small_world(tmp_path_factory.mktemp("made")), only=ONE)
    return inputs, reproduce_ruber_table3(inputs).to_records()


@pytest.fixture
def trained(monkeypatch):
    """Training data and recipe of every network that is trained from now on."""
    recipes = []

    def watched(training_data, given, *rest):
        recipes.extend((training_data, recipe) for recipe in given)
        return real(training_data, given, *rest)

    real = networks.train_all
    monkeypatch.setattr(networks, "train_all", watched)
    return recipes


def dialogues(path, *lines):
    path.write_text("".join("".join(f"{text} __eou__ " for text in line.split()) + "\n" for line in lines))
    return path


def test_disjoint_exchanges_of_the_second_half(tmp_path):
    """Of three dialogues the second half is the last two: a b c d and e f g give (a, b), (c, d), (e, f)."""
    path = dialogues(tmp_path / "three.txt", "x y", "a b c d", "e f g")
    found = [(turn.context[-1], turn.response) for turn in exchanges(load(path))]
    assert found == [("a", "b"), ("c", "d"), ("e", "f")]


def test_rated_queries_are_left_out(tmp_path):
    train = dialogues(tmp_path / "train.txt", "x y", "hello b c d")
    held = dialogues(tmp_path / "held.txt", "x y", "e f Hello! h")
    found = read_exchanges([train], [held], {"hello", "f"}, progress=False)
    assert (found.pairs, found.left_out) == ([1, 1], 2)
    assert found.data.texts == ["c", "d", "e", "f"]
    assert [caveat.code for caveat in found.caveats] == ["few_held"]


def test_numbers_of_dailydialog():
    """The paper speaks of 42,000 exchanges to train with, and 22,000 of them in the second part."""
    corpus = load(shared("training/dailydialog/dialogues_train.txt.gz"))
    assert sum(len(turn.context) % 2 for turn in corpus) == 41638
    assert len(exchanges(corpus)) == 21600


def test_rated_responses(tmp_path):
    rated_pairs(tmp_path / "a.csv", 5)
    (tmp_path / "broken.gz").write_bytes(b"\x1f\x8b no gzip")
    (tmp_path / "folder").mkdir()
    found = read_rated(tmp_path)
    assert len(found.turns) == len(found.ratings) == len(found.queries) == 5
    assert found.ratings[0] == pytest.approx(sum(found.turns[0].ratings["appropriateness"]) / 3)
    assert {turn.system for turn in found.turns} == {"generated"}
    assert all(turn.references for turn in found.turns)


def test_one_file_of_rated_pairs(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        rated_file(tmp_path / "none")
    with pytest.raises(InputError, match="found none"):
        rated_file(tmp_path)
    for name in ("a.csv", "b.csv"):
        rated_pairs(tmp_path / name, 5)
    with pytest.raises(InputError, match=r"found a\.csv, b\.csv"):
        rated_file(tmp_path)


def test_kept_networks_are_used_again(made, trained):
    inputs, records = made
    assert reproduce_ruber_table3(inputs).to_records() == records
    assert trained == []
    assert sorted(path.name for path in inputs.keep.iterdir()) == ["word2vec-mean-ranking-0", "word2vec-mean-ranking-1"]


def test_losses_and_seeds_share_what_is_encoded(made, trained, tmp_path):
    inputs = replace(
        made[0], keep=tmp_path, only=("word2vec/mean/ranking", "word2vec/max/ranking", "word2vec/mean/cross_entropy")
    )
    shutil.copytree(made[0].keep / "word2vec-mean-ranking-0", tmp_path / "word2vec-mean-ranking-0")
    reproduce_ruber_table3(inputs)
    order = [(recipe.sentence, recipe.loss, recipe.seed) for _, recipe in trained]
    assert order == [
        ("max", "ranking", 0),
        ("max", "ranking", 1),
        ("mean", "ranking", 1),
        ("mean", "cross_entropy", 0),
        ("mean", "cross_entropy", 1),
    ]
    assert [len({id(training_data) for training_data, _ in group}) for group in (trained[:2], trained[2:])] == [1, 1]


def test_runs_add_up(made, trained, tmp_path):
    """Two runs of one seed and another row, then the whole from what they kept: the numbers of a single run."""
    inputs, records = made
    part = replace(inputs, keep=tmp_path / "new" / "folder")
    reproduce_ruber_table3(replace(part, seeds=1))
    reproduce_ruber_table3(replace(part, only=("word2vec/max/ranking",), seeds=1))
    assert reproduce_ruber_table3(part).to_records() == list(map(pytest.approx, records))
    assert [recipe.seed for _, recipe in trained] == [0, 0, 1]


def test_a_run_that_was_broken_off_goes_on(made, monkeypatch, tmp_path):
    inputs, records = made
    inputs = replace(inputs, keep=tmp_path)
    with monkeypatch.context() as broken:
        broken.setattr(networks, "write_model", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            reproduce_ruber_table3(inputs)
    kept = [f"word2vec-mean-ranking-{seed}.checkpoints" for seed in range(2)]
    assert sorted(path.name for path in tmp_path.iterdir()) == kept
    assert reproduce_ruber_table3(inputs).to_records() == list(map(pytest.approx, records))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["word2vec-mean-ranking-0", "word2vec-mean-ranking-1"]


def test_networks_of_other_data_are_refused(made, trained, tmp_path):
    inputs = made[0]
    other = conversations(tmp_path / "other.txt", 120, 7)
    with pytest.raises(InputError, match=r"word2vec-mean-ranking-0: is a network of another .*\(data files differ\)"):
        reproduce_ruber_table3(replace(inputs, conversations=[other], only=("word2vec/max/ranking", *ONE)))
    with pytest.raises(InputError, match=r"\(recipe differ\)"):
        reproduce_ruber_table3(replace(inputs, base=replace(inputs.base, epochs=3)))
    vectors = tmp_path / "vectors.txt"
    vectors.write_text(inputs.vectors.read_text().replace("0.", "1."))
    with pytest.raises(InputError, match=r"\(encoder differ\)"):
        reproduce_ruber_table3(replace(inputs, vectors=vectors))
    assert trained == []


def test_networks_that_left_out_other_queries_are_refused(made, tmp_path):
    """A rated file that asks what one of the exchanges asks: one pair fewer."""
    inputs = made[0]
    path = rated_pairs(tmp_path / "scores.csv", 20)
    asked = exchanges(load(inputs.conversations[0]))[0].context[-1]
    path.write_text(path.read_text().replace(read_rated(tmp_path).turns[0].context[-1], asked))
    with pytest.raises(InputError, match=r"\(numbers of pairs differ\)"):
        reproduce_ruber_table3(replace(inputs, folder=tmp_path))


def test_a_damaged_network_is_refused(made, tmp_path):
    inputs = replace(made[0], keep=tmp_path, seeds=1)
    network = shutil.copytree(made[0].keep / "word2vec-mean-ranking-0", tmp_path / "word2vec-mean-ranking-0")
    card = json.loads((network / "card.json").read_text())
    del card["training"]["pairs"]
    (network / "card.json").write_text(json.dumps(card))
    with pytest.raises(InputError, match="its card cannot be used"):
        reproduce_ruber_table3(inputs)


def test_folders_that_cannot_be_written_to(made, trained, tmp_path):
    (tmp_path / "file").write_text("")
    for keep in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match="networks cannot be kept here"):
            reproduce_ruber_table3(replace(made[0], keep=keep))
    assert trained == []
