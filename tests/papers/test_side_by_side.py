"""What the tables of all papers stand on: published numbers, forms, and what takes the part of the papers' models."""

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from dialogauge.corpus import known
from dialogauge.corpus.readers.fed import FED
from dialogauge.errors import Caveat, InputError
from dialogauge.papers import side_by_side
from dialogauge.papers.entailment.table2 import entailment_table2
from dialogauge.papers.entailment.table3 import entailment_table3
from dialogauge.papers.fbd.published import table3, table4, table5
from dialogauge.papers.ruber.rows import ruber_table3, ruber_table4
from dialogauge.papers.side_by_side import (
    SideBySide,
    check_bert_alone,
    check_known,
    encoder_for,
    estimate,
    is_read_by,
    make_table,
    named_values,
    paper_and_ours,
    parse_models,
    read_published,
    stand_in_caveats,
)
from dialogauge.tables import Cell, Header

TABLES = {
    table3: ("xiang2021", 3, 12),
    table4: ("xiang2021", 4, 2),
    table5: ("xiang2021", 5, 12),
    ruber_table3: ("ghazarian2019", 3, 12),
    ruber_table4: ("ghazarian2019", 4, 6),
    entailment_table2: ("dziri2019", 2, 2),
    entailment_table3: ("dziri2019", 3, 15),
}


@pytest.mark.parametrize("table", TABLES)
def test_published_tables_say_where_they_stand(table):
    source = table().source
    assert (source.paper, source.number, len(table().rows)) == TABLES[table]
    assert source.caption
    papers = tomllib.loads(Path(known.__file__).with_name("known.toml").read_text(encoding="utf-8"))["papers"]
    assert source.paper in papers or source.paper == "dziri2019"  # none of whose corpora is to be had
    assert table() is table()  # read once


def test_a_published_table(tmp_path):
    (tmp_path / "published.toml").write_text(
        """
        [t]
        paper = "p"
        number = 7
        caption = "c"
        columns = ["a", "b"]
        titles = ["A", "B"]
        corpus = "x"
        rows = { one = [1, 2], two = [[3, 4], [5, 6]] }
        [short]
        paper = "p"
        number = 8
        caption = "c"
        columns = ["a", "b"]
        rows = { one = [1] }
        """
    )
    module = str(tmp_path / "module.py")
    table = read_published(module, "t", lambda name, row: (name, row))
    assert table.titles == {"a": "A", "b": "B"}
    assert table.rows == {"one": ("one", {"a": 1, "b": 2}), "two": ("two", {"a": [3, 4], "b": [5, 6]})}
    assert table.about == {"corpus": "x"}
    with pytest.raises(ValueError, match="shorter"):
        read_published(module, "short", lambda _, row: row)


@dataclass(frozen=True)
class Line:
    name: str
    published: float
    value: float | None


@dataclass(frozen=True, repr=False)
class Small(SideBySide):
    schema = "dialogauge.small/1"

    cells: list[Line]

    def head(self):
        return {"figure": 9}

    def notes(self):
        return ["a note"]

    def to_table(self):
        rows = [(line.name, str(line.published), estimate(line.value, 0.1, 0.5, 0.0004)) for line in self.cells]
        return make_table(["metric"], paper_and_ours(["Pearson"], "ours"), rows, self.notes())


def test_forms():
    small = Small([Line("bleu", 0.25, 0.3), Line("prd", 0.5, None)], files=(), caveats=[Caveat("code", "careful")])
    found = json.loads(small.to_json())
    assert list(found) == ["schema", "figure", "files", "cells", "warnings"]
    assert found["schema"] == "dialogauge.small/1"
    assert found["cells"][1] == {"name": "prd", "published": 0.5, "value": None}
    assert found["warnings"] == [{"code": "code", "message": "careful"}]
    assert small.to_csv().splitlines() == ["name,published,value", "bleu,0.25,0.3", "prd,0.5,"]
    assert str(small).splitlines()[0].split() == ["metric", "Pearson:", "paper", "ours"]
    assert "0.300 [0.100, 0.500] p<0.001" in str(small)
    assert str(small).endswith("a note\n\nwarning: careful")
    assert repr(small) == "<Small: 2 rows>"


def test_columns_of_words_then_of_numbers():
    table = make_table(["a"], ["b", Header("c", align="left")], [("x", Cell("1", "aside"), "y")], [], "name")
    assert [(header.text, header.align) for header in table.headers] == [("a", "left"), ("b", "right"), ("c", "left")]
    assert table.rows == [[Cell("x"), Cell("1", "aside"), Cell("y")]]
    assert paper_and_ours(["A", "B"], "ours", "signed") == ["A: paper", "ours", "signed", "B: paper", "ours", "signed"]


def test_names_that_are_not_known():
    check_known("row", [], [])
    with pytest.raises(InputError, match="unknown row 'blue'; did you mean bleu"):
        check_known("row", ["prd", "blue"], ["bleu", "prd"])
    check_bert_alone({"bert-base-uncased": "x"})
    with pytest.raises(InputError, match="--models: this paper has bert-base-uncased alone, found a, b"):
        check_bert_alone({"b": "x", "bert-base-uncased": "x", "a": "x"})


def test_files_are_known_by_their_content(tmp_path):
    (tmp_path / "other.json").write_bytes(b"\xff\xfe{")
    (tmp_path / "empty.json").touch()
    (tmp_path / "fed.json").write_text(
        json.dumps([{"context": "User: a", "response": "System: b", "annotations": {"Relevant": [1]}, "system": "s"}])
    )
    found = {path.name: is_read_by(FED, path) for path in (*tmp_path.iterdir(), tmp_path, tmp_path / "none")}
    assert [name for name, is_fed in found.items() if is_fed] == ["fed.json"]


def test_pairs_of_a_list():
    assert list(named_values(" a = 1,, b=x=y, c ,=d")) == [
        ("a", "1", "a = 1"),
        ("b", "x=y", "b=x=y"),
        ("c", "", "c"),
        ("", "d", "=d"),
    ]


@pytest.fixture
def there(monkeypatch):
    found = set()
    monkeypatch.setattr(side_by_side, "_is_there", found.__contains__)
    return found


def test_the_model_itself_comes_first(there):
    there |= {"roberta-base", "mpnet"}
    assert encoder_for("roberta-base", {}) == "roberta-base"


def test_then_what_stands_in_for_it(there):
    there.add("mpnet")
    assert encoder_for("roberta-base", {}) == "mpnet"


def test_then_nothing(there):
    assert encoder_for("roberta-base", {}) is None
    there |= {"minilm", "mpnet"}
    assert encoder_for("roberta-large", {}) is None


def test_what_is_given_is_not_looked_for(there):
    assert encoder_for("roberta-base", {"roberta-base": "mine"}) == "mine"


def test_parsing():
    assert parse_models("roberta-base=a, bert-large-uncased=static:x") == {
        "roberta-base": "a",
        "bert-large-uncased": "static:x",
    }
    assert parse_models(None) == {}
    for text in ("roberta-base", "roberta=x", "roberta-base="):
        with pytest.raises(InputError, match="expected MODEL=ENCODER with one of bert-base-uncased"):
            parse_models(text)


def test_caveats_say_what_was_replaced_and_what_is_left_out():
    found = stand_in_caveats({"bert-base-uncased": "bert-base-uncased", "roberta-base": "mpnet", "roberta-large": None})
    assert [caveat.code for caveat in found] == ["stand_in_model", "no_model"]
    assert "mpnet stands in for roberta-base" in found[0].message
    assert "roberta-large is not to be had" in found[1].message
