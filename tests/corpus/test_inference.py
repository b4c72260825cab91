"""Pairs of premise and hypothesis come back from every format, and what is wrong is named with its place."""

import gzip
import json

import pytest

from dialogauge.corpus.inference import COLUMNS, LABELS, InferencePair, read_inference, table_row
from dialogauge.errors import InputError
from tests.corpus.files import write, write_lines
from tests.shared import shared

MNLI = "\t".join(COLUMNS)


def refusal(path, **options):
    with pytest.raises(InputError) as caught:
        list(read_inference(path, **options))
    return str(caught.value).removeprefix(str(path))


def row(premise="a b", hypothesis="c", label="neutral", **others):
    cells = {"sentence1": premise, "sentence2": hypothesis, "gold_label": label, **others}
    return "\t".join(cells.get(column, "x") for column in COLUMNS)


def test_our_json_lines(tmp_path):
    full = {
        "premise": ["hi", "hello"],
        "hypothesis": "how are you",
        "label": "entailment",
        "source": "next",
        "split": "test",
        "dialogue": 7,
    }
    path = write_lines(tmp_path / "x.jsonl", full, {"premise": "hi", "hypothesis": " no ", "label": "contradiction"})
    assert list(read_inference(path)) == [
        InferencePair(("hi", "hello"), "how are you", "entailment", "next", "test", "7"),
        InferencePair(("hi",), "no", "contradiction"),
    ]
    assert list(read_inference(str(path)))[1].source == "nli"


def test_snli_json_lines_without_a_gold_label_are_counted(tmp_path):
    records = [{"sentence1": "a", "sentence2": "b", "gold_label": label, "pairID": "1"} for label in ("neutral", "-")]
    path = write_lines(tmp_path / "x.jsonl.gz", *records)
    file = read_inference(path)
    assert list(file) == [InferencePair(("a",), "b", "neutral")]
    assert [(caveat.code, caveat.message) for caveat in file.caveats] == [
        ("unlabelled_pairs", f'{path}: 1 pair without a gold label ("-") left out')
    ]


def test_a_json_array_as_dialogue_nli_is_published(tmp_path):
    items = [{"sentence1": "i ski .", "sentence2": "i do not ski .", "label": "negative", "id": 1}]
    path = write(tmp_path / "dnli.jsonl", json.dumps(items))
    assert list(read_inference(path)) == [InferencePair(("i ski .",), "i do not ski .", "contradiction")]


def test_tables_find_columns_by_name_and_leave_quotes_alone(tmp_path):
    path = write(tmp_path / "mnli.tsv", f"{MNLI}\n{row(premise=chr(34) + 'oh, he said', genre='fiction')}\r\n")
    assert list(read_inference(path)) == [InferencePair(('"oh, he said',), "c", "neutral")]
    other = write(tmp_path / "snli.txt.gz", "gold_label\tsentence1\tsentence2\tx\n-\ta\tb\t\nentailment\ta\tb\t\n")
    assert list(read_inference(other)) == [InferencePair(("a",), "b", "entailment")]
    third = write(tmp_path / "t.tsv", "premise\thypothesis\tlabel\na\tb\tcontradiction\n")
    assert list(read_inference(third)) == [InferencePair(("a",), "b", "contradiction")]


def test_our_rows_keep_utterances_source_split_and_dialogue(tmp_path):
    pair = InferencePair(("one  two", "three", "x"), "four\tfive", "entailment", "next", "validation", "d 1")
    path = write(tmp_path / "x.tsv", f"{MNLI}\n{table_row(pair, 3)}\n")
    (found,) = read_inference(path)
    assert found == InferencePair(("one  two", "three", "x"), "four five", "entailment", "next", "validation", "d 1")
    # Where the text no longer fits the lengths, it is one sentence like any other.
    path = write(tmp_path / "y.tsv", f"{MNLI}\n{table_row(pair, 3).replace('three', 'thirty')}\n")
    assert [each.premise for each in read_inference(path)] == [("one  two thirty x",)]


def test_dialogue_nli_lines(tmp_path):
    path = write(tmp_path / "x.txt", "a .</s>b .</s>positive\nc</s>d</s>negative\ne</s>f</s>neutral\n")
    assert [(pair.premise, pair.hypothesis, pair.label) for pair in read_inference(path)] == [
        (("a .",), "b .", "entailment"),
        (("c",), "d", "contradiction"),
        (("e",), "f", "neutral"),
    ]


@pytest.mark.parametrize("end", ["", ".gz"])
def test_parallel_files(tmp_path, end):
    for part, text in (("s1", "a \nb\n"), ("s2", "c\nd\n"), ("labels", "neutral\nentailment\n")):
        write(tmp_path / f"{part}.dev{end}", text)
    file = read_inference(tmp_path / f"s1.dev{end}")
    assert list(file) == [InferencePair(("a",), "c", "neutral"), InferencePair(("b",), "d", "entailment")]
    assert [path.name for path, _ in file.hashes()] == [f"{part}.dev{end}" for part in ("s1", "s2", "labels")]
    message = refusal(tmp_path / f"labels.dev{end}")
    assert message == f": expected the file of premises: 's1.dev{end}'; the others are found from it"


def test_parallel_files_that_do_not_fit(tmp_path):
    first = write(tmp_path / "s1.dev", "a\nb\n")
    assert refusal(first) == ": expected the file 's2.dev' beside this one, found none"
    second = write(tmp_path / "s2.dev", "c\n")
    write(tmp_path / "labels.dev", "neutral\nneutral\n")
    with pytest.raises(InputError) as caught:
        list(read_inference(first, skip_invalid=True))
    assert str(caught.value) == f"{second}: expected as many lines as in 's1.dev', found 1"


@pytest.mark.parametrize(
    ("name", "lines", "message"),
    [
        ("x.tsv", [MNLI, row(), row(label="maybe")], ":3: label: expected one of entailment, neutral, contradiction"),
        ("x.tsv", [MNLI, row() + "\tx"], ":2: expected 12 columns, found 13"),
        ("x.tsv", [MNLI, row(premise=" ")], ":2: premise: expected text, found none"),
        ("x.tsv", [MNLI, row(hypothesis="")], ":2: hypothesis: expected text, found none"),
        ("x.tsv", [f"{MNLI}\tsentence1", row() + "\tx"], ":1: expected columns of different names"),
        ("x.txt", ["a</s>b</s>neutral", "a</s>b"], ":2: expected premise, hypothesis and label between </s>"),
        ("x.txt", ["a</s>b</s>good"], ":1: label: expected one of"),
        (
            "x.jsonl",
            ['{"premise": ["a"], "label": "neutral"}'],
            ":1: expected the fields premise, hypothesis and label",
        ),
        ("x.jsonl", ['{"premise": [], "hypothesis": "a", "label": "neutral"}'], ":1: premise: expected text"),
        ("x.jsonl", ['{"premise": [1], "hypothesis": "a", "label": "neutral"}'], ":1: premise: expected a list of str"),
        ("x.jsonl", ['{"premise": "a", "hypothesis": "a", "label": 0}'], ":1: label: expected text, found the number"),
        ("x.jsonl", ['{"premise": "a", "hypothesis": "a", "label": "neutral", "split": "dev"}'], ":1: split: expected"),
        ("x.jsonl", ['{"sentence1": "a", "gold_label": "-"}'], ":1: expected the fields sentence1, sentence2 and gold"),
        ("x.jsonl", ["{"], ":1: not valid JSON"),
        ("x.txt", ["just text"], ": expected pairs of premise and hypothesis (JSON lines"),
        ("x.txt", [""], ": expected pairs of premise and hypothesis (JSON lines"),
        ("x.tsv", [MNLI, row(label="-")], ": expected pairs of premise and hypothesis, found none; 1 pair without a"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, name, lines, message):
    path = write(tmp_path / name, "".join(f"{line}\n" for line in lines))
    assert refusal(path).startswith(message)


def test_no_file_no_directory(tmp_path):
    assert refusal(tmp_path / "none.tsv") == ": no such file"
    assert refusal(tmp_path) == ": is a directory; expected a file"


def test_invalid_lines_can_be_left_out_and_are_counted(tmp_path):
    path = write(tmp_path / "x.tsv", "\n".join([MNLI, row(label="yes"), row(), "x", row(label="-"), row()]) + "\n")
    file = read_inference(path, skip_invalid=True)
    assert len(list(file)) == 2
    assert [caveat.code for caveat in file.caveats] == ["unlabelled_pairs", "skipped_lines"]
    assert "2 lines left out (line 2: label: expected" in file.caveats[1].message
    only = write(tmp_path / "y.tsv", f"{MNLI}\n{row(label='yes')}\n")
    assert "found none; 1 line left out" in refusal(only, skip_invalid=True)


def test_files_are_streamed(tmp_path):
    path = tmp_path / "x.tsv.gz"
    with gzip.open(path, "wt") as file:
        file.write(f"{MNLI}\n" + f"{row()}\n" * 5000 + "broken\n")
    pairs = read_inference(path)
    assert next(pairs).label == "neutral"
    with pytest.raises(InputError, match=":5002: expected 12 columns, found 1"):
        list(pairs)


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("mnli_like/english_pairs.tsv.gz", (2427, 2166, 2277)),
        ("dialogue_nli_sample/nli-valid.txt.gz", (1078, 1023, 1057)),
        ("snli_dev_test/s1.dev.gz", (3329, 3235, 3278)),
    ],
)
def test_real_files(name, labels):
    found = [pair.label for pair in read_inference(shared(f"training/nli/{name}"))]
    assert tuple(found.count(label) for label in LABELS) == labels


def test_sizes_that_nobody_means_are_refused(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", {"premise": "a", "hypothesis": "x" * 1_000_001, "label": "neutral"})
    with pytest.raises(InputError, match=r"a\.jsonl:1: expected texts of at most 1,000,000 characters"):
        list(read_inference(path))
