"""Which pairs are learned from, validated with and tested on."""

import json

import numpy as np
import pytest

from dialogauge.errors import InputError
from dialogauge.learned.entailment.data import Files, read_data
from tests.learned.entailment.pairs import LABELS, pairs, write_pairs


@pytest.fixture
def read(tmp_path):
    """The data of rows, in one file, with options of `Files`."""

    def run(rows, seed=0, **files):
        return read_data(Files([write_pairs(tmp_path / "pairs.jsonl", rows)], **files), seed)

    return run


def codes(data):
    return {caveat.code for caveat in data.caveats}


def test_splits_are_honoured(read):
    rows = [*pairs(18, split="train"), *pairs(9, split="validation"), *pairs(12, split="test"), *pairs(3, split=None)]
    data = read(rows)
    assert data.train.tolist() == [*range(18), 39, 40, 41]
    assert data.held.tolist() == [*range(18, 27)]
    assert {name: found.tolist() for name, found in data.tests.items()} == {"test": [*range(27, 39)]}
    assert data.share is None
    assert codes(data) == {"few_held", "seen_pairs"}


def test_texts_labels_and_sources(read):
    rows = [
        {
            "premise": [" hello ", "you"],
            "hypothesis": " nice ",
            "label": "neutral",
            "source": "random",
            "dialogue": "a",
        },
        {"premise": "hello you", "hypothesis": "dog", "label": "contradiction"},
        {"premise": "hello you", "hypothesis": "cat", "label": "entailment"},
        {"premise": ["x"], "hypothesis": "dog", "label": "entailment", "dialogue": "a"},
    ]
    data = read(rows, share=0.5)
    assert data.pairs.premises == ["hello you", "hello you", "hello you", "x"]
    assert data.pairs.hypotheses == ["nice", "dog", "cat", "dog"]
    assert [LABELS[label] for label in data.pairs.labels] == ["neutral", "contradiction", "entailment", "entailment"]
    assert data.pairs.sources == ["random", "nli", "nli", "nli"]
    # By dialogue; without one, by premise.
    assert data.pairs.groups.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("dialogue", [True, False])
def test_a_share_of_dialogues_or_premises_is_held_back(read, dialogue):
    rows = pairs(90)
    if not dialogue:
        rows = [{**row, "premise": [f"{row['premise']} {row['dialogue']}"]} for row in rows]
        for row in rows:
            del row["dialogue"]
    data = read(rows, share=0.3)
    assert sorted([*data.train, *data.held]) == list(range(90))
    groups = data.pairs.groups
    assert not set(groups[data.train]) & set(groups[data.held])
    assert len(set(groups[data.held])) == round(0.3 * len(set(groups)))
    assert data.share == 0.3
    assert read(rows, share=0.3).held.tolist() == data.held.tolist()
    assert any(read(rows, seed=seed, share=0.3).held.tolist() != data.held.tolist() for seed in (1, 2))


def test_at_least_one_group_each_way(read):
    rows = pairs(18)
    assert len(set(read(rows, share=0.01).pairs.groups[read(rows, share=0.01).held])) == 1
    assert len(read(rows, share=0.99).train) == 9


def test_files_to_validate_with_and_to_test_on(read, tmp_path):
    """Whatever they say of their own pairs."""
    valid = write_pairs(tmp_path / "valid.jsonl", pairs(6, split="test"))
    test = write_pairs(tmp_path / "test.jsonl", pairs(9, split="train"))
    (tmp_path / "deep").mkdir()
    other = write_pairs(tmp_path / "deep" / "test.jsonl", pairs(12))
    data = read(pairs(18), validation=[valid], tests=[test, other])
    assert (len(data.train), len(data.held), data.share) == (18, 6, None)
    assert {name: len(rows) for name, rows in data.tests.items()} == {"test.jsonl": 9, str(other): 12}
    assert {kind: [file.path for file in files] for kind, files in data.sources.items()} == {
        "training": [str(tmp_path / "pairs.jsonl")],
        "validation": [str(valid)],
        "tests": [str(test), str(other)],
    }


@pytest.mark.parametrize("name", ["train", "validation", "test"])
def test_a_test_whose_file_has_the_name_of_a_split_is_not_learned_from(read, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    write_pairs(tmp_path / name, pairs(9))
    data = read(pairs(18), tests=[name, name], share=0.5)
    assert (len(data.train), len(data.held)) == (9, 9)
    assert {name: len(rows) for name, rows in data.tests.items()} == {f"{name}'": 9, f"{name}''": 9}


def test_several_files_are_one_corpus(tmp_path):
    files = [write_pairs(tmp_path / f"{name}.jsonl", pairs(18)) for name in "ab"]
    data = read_data(Files(files, share=0.5), 0)
    assert len(data.pairs) == 36
    assert [file.path for file in data.sources["training"]] == [str(file) for file in files]


def of(label, count=9):
    return [
        {"premise": f"p {n}", "hypothesis": "h", "label": label if isinstance(label, str) else label[n % len(label)]}
        for n in range(count)
    ]


def test_two_classes_are_a_caveat(read):
    data = read(of(LABELS[:2]), share=0.2)
    assert codes(data) == {"missing_class", "few_held"}
    messages = [caveat.message for caveat in data.caveats]
    assert any("no pair to learn from has the label contradiction" in message for message in messages)
    assert any("only 2 pairs to validate with" in message for message in messages)


def test_many_held_are_no_caveat(read):
    assert codes(read(of(LABELS, 300), share=0.4)) == set()


WRONG = {
    "one class": (
        of("neutral"),
        "all pairs to learn from have the label neutral: expected entailment, neutral, contra",
    ),
    "one class but for the pairs held back": (
        [*of("neutral"), *({**row, "split": "validation"} for row in of(LABELS))],
        "all pairs to learn from have the label neutral",
    ),
    "everything is to be tested on": (pairs(9, split="test"), "nothing to learn from"),
    "everything is to be validated with": (pairs(9, split="validation"), "nothing to learn from"),
    "one premise": (
        [{"premise": "same", "hypothesis": "h", "label": label} for label in LABELS],
        "expected pairs of at least 2 dialogues or premises, one to validate with; found 1",
    ),
    "a bad label": (
        [*pairs(9), {"premise": "p", "hypothesis": "h", "label": "entails"}],
        ":10: label: expected one of",
    ),
    "an unknown split": ([{**pairs(1)[0], "split": "dev"}], "split: expected train, validation, test"),
    "an empty premise": ([{"premise": [" "], "hypothesis": "h", "label": "neutral"}], "premise: expected text"),
    "an empty hypothesis": ([{"premise": "p", "hypothesis": " ", "label": "neutral"}], "hypothesis: expected text"),
    "an empty file": ([], "expected pairs of premise and hypothesis"),
    "annotators at odds": ([{"premise": "p", "hypothesis": "h", "label": "-"}], "expected pairs .*found none"),
}


@pytest.mark.parametrize("name", WRONG)
def test_pairs_that_teach_nothing(read, name):
    rows, message = WRONG[name]
    with pytest.raises(InputError, match=message):
        read(rows)


def test_lines_that_cannot_be_read_may_be_skipped(read):
    data = read([*pairs(18), {"premise": "p", "hypothesis": "h", "label": "entails"}], skip_invalid=True)
    assert len(data.pairs) == 18
    assert len(codes(data)) == 2
    assert any("pairs.jsonl" in caveat.message for caveat in data.caveats)


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan")])
def test_a_share_that_is_none(read, share):
    with pytest.raises(InputError, match="share to validate with: expected a number between 0 and 1"):
        read(pairs(18), share=share)


def test_a_share_beside_pairs_to_validate_with(read):
    rows = [*pairs(18, split="train"), *pairs(9, split="validation")]
    with pytest.raises(InputError, match="the share to validate with: the files have pairs to validate with already"):
        read(rows, share=0.2)


def test_pairs_that_are_judged_and_learned_from(read, tmp_path):
    rows = of(LABELS, 30)
    fresh = [{**row, "premise": f"{row['premise']} more"} for row in rows]
    test = write_pairs(tmp_path / "test.jsonl", [*rows[:4], *fresh[4:]])
    valid = write_pairs(tmp_path / "valid.jsonl", fresh)
    found = [caveat.message for caveat in read(rows, validation=[valid], tests=[test]).caveats]
    (message,) = (message for message in found if "learned from" in message)
    assert message == "test.jsonl: 4 of 30 pairs are also learned from: its accuracy is too high"


def test_the_digest_follows_what_is_learned_from(read):
    rows = pairs(54)
    first = read(rows, share=0.3).digest()
    assert read(rows, share=0.3).digest() == first
    changed = [dict(row) for row in rows]
    changed[5]["label"] = LABELS[(LABELS.index(changed[5]["label"]) + 1) % 3]
    worded = json.loads(json.dumps(rows))
    worded[7]["hypothesis"] = "other"
    others = [read(changed, share=0.3), read(worded, share=0.3), read(rows, share=0.5), read(rows, seed=3, share=0.3)]
    assert first not in {data.digest() for data in others}


def test_tables_of_inference_corpora(tmp_path):
    """Whatever the reader of pairs reads."""
    path = tmp_path / "snli.txt"
    lines = ["gold_label\tsentence1\tsentence2", *(f"{LABELS[n % 3]}\tpremise {n}\th" for n in range(9)), "-\tp\th"]
    path.write_text("\n".join(lines) + "\n")
    data = read_data(Files([path], share=0.3), 0)
    assert len(data.pairs) == 9
    assert len(np.unique(data.pairs.groups)) == 9
    assert "unlabelled_pairs" in codes(data)


@pytest.mark.parametrize("line", ['{"dialogue": "d", "utterances": ["hi", "hello"]}', "hi __eou__ hello __eou__"])
def test_conversations_are_told_from_pairs(tmp_path, line):
    path = tmp_path / "talk.txt"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="^.*talk.txt.* expected .* `dialogauge synthesize entailment` makes pairs"):
        read_data(Files([path]), 0)


def test_a_bad_label_gets_no_hint_at_conversations(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"premise": "a", "hypothesis": "b", "label": "maybe"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="label: expected") as raised:
        read_data(Files([path]), 0)
    assert "synthesize" not in str(raised.value)
