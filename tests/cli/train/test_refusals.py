"""Calls and data that nothing can be learned from, refused before anything is."""

import json

import pytest

from tests.cli.train.conftest import ENTAILMENT, GAUGE, RUBER
from tests.learned.entailment.pairs import pairs, write_pairs
from tests.learned.gauge.talk import rated, write_lines

WRONG_FOR_ALL = [
    (["--rate", "nan"], "rate: expected a number above 0"),
    (["--validation-share", "1.5"], "the share to validate with: expected a number between 0 and 1, found 1.5"),
    (["--encoder", "static:nothing.txt"], "no word vectors 'nothing.txt'"),
]
WRONG = {
    "ruber": [
        (["--sentence", "meen"], "unknown sentence 'meen'; did you mean mean"),
        (["--loss", "rankin"], "unknown loss 'rankin'; did you mean ranking?"),
        (["--recipe", "tower"], "unknown recipe 'tower'; did you mean towers?"),
        (["--recipe", "papers"], "unknown recipe 'papers'; did you mean paper or towers?"),
        (["--network", "tower"], "unknown network 'tower'; did you mean towers?"),
        (["--schedule", "lineal"], "unknown schedule 'lineal'; did you mean linear?"),
        (["--layers", "6,x"], "--layers: expected whole numbers, as 6,3, found '6,x'"),
        (["--layers", "6.5"], "--layers: expected whole numbers, as 6,3, found '6.5'"),
        (["--layers", ","], "--layers: expected whole numbers, as 6,3, found ','"),
        (["--layers", "3,1"], "layers: the encoder topics@"),
        (["--layers=-1"], "layers: "),
        (["--context", "3"], "context: towers look at 1 or 2 utterances, found 3"),
        (["--sentence", "rnn"], "sentence rnn: expected the network ruber"),
        (["--network", "ruber"], "loss softmax: expected the network towers and in_batch negatives"),
        (["--negatives", "random"], "loss softmax: expected the network towers and in_batch negatives"),
        (["--recipe", "paper", "--loss", "softmax"], "loss softmax: expected the network towers"),
        (["--negatives", "in_batch,hart"], "unknown kind of negatives 'hart'; did you mean hard?"),
        (["--negatives", ","], "negatives: expected at least one kind"),
        (["--rate", "0"], "rate: expected a number above 0"),
        (["--members", "0"], "members: expected a whole number from 1 to 1,000, found 0"),
        (["--seed", "-1"], "seed: expected a whole number from 0 to 4,294,967,294, found -1"),
        (["--seed", str(2**70)], "seed: expected"),
        (["--reader", "jsnl"], "unknown reader 'jsnl'; did you mean jsonl"),
        (["--validation", "x"], "--validation-share: --validation names conversations to validate with already"),
    ],
    "entailment": [
        (["--recipe", "adaptor"], "unknown recipe 'adaptor'; did you mean adapter?"),
        (["--recipe", "transformer", "--pool", "meen"], "unknown pool 'meen'; did you mean mean?"),
        (["--rank", "4"], "rank: ESIM leaves its encoder as it is; found 4"),
        (["--recipe", "adapter", "--rank", "-1"], "rank: expected a whole number from 0 to"),
        (["--recipe", "adapter"], "the encoder words@"),
        (["--units", "0"], "units: expected a whole number from 1 to"),
        (["--dropout", "1"], "dropout: expected a number from 0 to below 1"),
        (["--batch", "0"], "batch: expected a whole number from 1 to 1,000,000, found 0"),
        (["--accumulate", "0"], "accumulate: expected a whole number from 1 to 1,000,000, found 0"),
        (["--warm-up", "1"], "warm_up: expected a number from 0 to below 1"),
        (["--weight-decay=-1"], "weight_decay: expected a number from 0 to below 1"),
        (["--epochs", "0"], "epochs: expected a whole number from 1 to 1,000,000, found 0"),
        (["--seed", "-1"], "seed: expected a whole number from 0 to 4,294,967,295, found -1"),
        (["--validation", "x"], "--validation-share: --validation names pairs to validate with already"),
        (["--test", "missing.jsonl"], "missing.jsonl: "),
    ],
    "gauge": [
        (["--recipe", "adaptor"], "unknown recipe 'adaptor'; did you mean adapter?"),
        (["--pool", "meen"], "pool: expected one of cls, mean, max, found 'meen'"),
        (["--rank", "-1"], "rank: expected a whole number from 0 to"),
        (["--context", "0"], "context: expected a whole number from 1 to"),
        (["--dropout", "1"], "dropout: expected a number from 0 to below 1"),
        (["--weight", "1"], "weight: expected a number from 0 to below 1, found 1.0"),
        (["--rating-rate", "0"], "rating_rate: expected a number above 0 and at most 1, found 0.0"),
        (["--rating-epochs", "0"], "rating_epochs: expected a whole number from 1 to 1,000,000, found 0"),
        (["--seed", "-1"], "seed: expected a whole number from 0 to"),
        (["--ratings", "missing.jsonl"], "missing.jsonl: "),
        (["--replies", "missing.jsonl"], "missing.jsonl: "),
        (["--teacher", "missing"], "missing: no model here"),
    ],
}


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [(model, *call) for model, calls in WRONG.items() for call in (*WRONG_FOR_ALL, *calls)],
)
def test_wrong_calls(train, tmp_path, options, message):
    done = train(*options)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(message)
    assert done.err.count("\n") == 1
    assert not (tmp_path / "m").exists()


@RUBER
@pytest.mark.parametrize("misspelled", ["rubber", "entailmant"])
def test_an_unknown_model(dialogauge, data, tmp_path, misspelled):
    done = dialogauge("train", misspelled, data, "--out", tmp_path / "m")
    assert (done.code, done.out) == (2, "")
    assert f"invalid choice: '{misspelled}' (choose from" in done.err
    assert "ruber" in done.err
    assert "entailment" in done.err


def test_no_directory_given(dialogauge, model, data):
    done = dialogauge("train", model, data)
    assert done.code == 2
    assert "--out" in done.err


TEACHES_NOTHING = [
    ("ruber", "", "data.jsonl: "),
    (
        "ruber",
        '{"dialogue": "a", "utterances": ["hi"]}\n{"dialogue": "b", "utterances": ["ho"]}\n',
        "expected turns, found none",
    ),
    (
        "ruber",
        '{"dialogue": "a", "utterances": ["ask0", "say0", "oh0", "now"]}\n',
        "expected at least 2 dialogues, one to validate with; found 1",
    ),
    (
        "ruber",
        "".join(json.dumps({"dialogue": str(n), "utterances": [f"ask{n}", "Yes ."]}) + "\n" for n in range(9)),
        "all responses are the same text",
    ),
    ("ruber", '{"response": "say0"}\n{"response": "say1"}\n', "nothing to learn from"),
    ("entailment", "", "data.jsonl: expected pairs of premise and hypothesis"),
    (
        "entailment",
        "".join(json.dumps(row) + "\n" for row in pairs() if row["label"] == "neutral"),
        "have the label neutral",
    ),
    ("entailment", '{"dialogue": "a", "utterances": ["hi", "ho"]}\n', "premise, hypothesis and label"),
    ("gauge", "", "data.jsonl: "),
    ("gauge", '{"dialogue": "a", "utterances": ["hi", "ho"]}\n', "expected at least 2 conversations of two utterances"),
]


@pytest.mark.parametrize(("model", "content", "message"), TEACHES_NOTHING, ids=[row[2] for row in TEACHES_NOTHING])
def test_data_that_teaches_nothing(train, data, tmp_path, content, message):
    data.write_text(content)
    done = train()
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["data.jsonl"]


@GAUGE
def test_a_bad_file_of_ratings_is_named(train, tmp_path):
    path = write_lines(tmp_path / "rated.jsonl", rated(5))
    done = train("--ratings", path)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"{path}: expected at least 20 turns with a context and a rating of 'overall', found 5\n"
    assert not (tmp_path / "m").exists()


@ENTAILMENT
def test_two_classes_are_a_warning(train, data):
    write_pairs(data, [row for row in pairs() if row["label"] != "contradiction"])
    done = train()
    assert done.code == 0
    assert "warning: no pair to learn from has the label contradiction: it will never be predicted" in done.err


def test_a_directory_that_is_there(train, tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "thesis.tex").write_text("years of work")
    done = train(files=(tmp_path / "missing.jsonl",))
    assert done.code == 2
    assert done.err.startswith(f"{tmp_path / 'm'}: is there already and was left as it is")
    assert train("--overwrite").err.startswith(f"{tmp_path / 'm'}: holds more than a model ('thesis.tex')")
    assert (tmp_path / "m" / "thesis.tex").exists()


def test_the_directory_one_stands_in(train, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    done = train("--out", ".", "--overwrite")
    assert done.code == 2
    assert done.err.startswith(".: cannot be named as a metric's model")
