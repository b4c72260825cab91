"""What corpora are called."""

from pathlib import Path

import pytest

from dialogauge.agreement.correlate_corpora import corpus_name, free_name, name_corpora
from dialogauge.corpus import Corpus
from dialogauge.corpus.corpus import SourceFile
from dialogauge.errors import InputError
from tests.agreement.corpora import rated


def of(path):
    return Corpus(rated(3).turns, (SourceFile(path, "0", "jsonl"),))


@pytest.mark.parametrize(
    ("path", "name"),
    [("a/run.v1.jsonl", "run.v1"), ("b/x.json.gz", "x"), ("plain", "plain"), ("mean.jsonl", "corpus mean")],
)
def test_by_the_file(path, name):
    assert corpus_name(of(path)) == name


def test_a_directory_keeps_its_dots(tmp_path):
    folder = tmp_path / "grade.v2"
    folder.mkdir()
    assert corpus_name(Corpus([]), folder) == "grade.v2"
    assert corpus_name(Corpus([]), Path("x.csv")) == "x"


def test_no_name_is_taken_twice():
    assert free_name("a", {"a", "a (2)"}) == "a (3)"
    assert list(name_corpora([of("a (2).jsonl"), of("x/a.jsonl"), of("y/a.jsonl")])) == ["a (2)", "a", "a (3)"]


def test_a_corpus_cannot_be_called_mean():
    with pytest.raises(InputError, match="no corpus can be called 'mean'"):
        name_corpora({"mean": rated()})
