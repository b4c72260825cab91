import csv
import io
import json

import pytest

from tests.cli.conftest import Done
from tests.shared import annotation


def test_the_table_is_short(dialogauge):
    done = dialogauge("corpora")
    assert done.code == 0
    lines = {line.split()[0]: line for line in done.out.splitlines() if line}
    assert "Understandable, Natural, Maintains Context and 3 more" in lines["fbd-personam"]
    assert lines["fbd-dailyz"].split()[1:3] == ["800", "8"]
    assert "not rated" in lines["dailydialog-train"]
    assert "github.com/li3cmz/GRADE" in lines["grade-convai2"]
    assert "Huang et al. 2020" in lines["grade-convai2"]


def test_json_has_everything(dialogauge):
    document = json.loads(dialogauge("corpora", "--format", "json").out)
    assert document["schema"] == "dialogauge.corpora/1"
    corpora = {corpus["name"]: corpus for corpus in document["corpora"]}
    daily = corpora["fbd-dailyz"]
    assert daily["dimensions"] == ["relevance", "grammar", "content", "overall"]
    assert daily["systems"] == [f"s0{n}" for n in range(8)]
    assert any("s07" in fault for fault in daily["faults"])
    assert daily["papers"][0].endswith("Findings of ACL-IJCNLP 2021.")
    assert {len(sha256) for corpus in corpora.values() for sha256 in corpus["sha256"].values()} == {64}
    assert len(corpora["grade-convai2"]["sha256"]) == 17


def test_csv_has_one_line_each(dialogauge):
    rows = list(csv.DictReader(io.StringIO(dialogauge("corpora", "--format", "csv").out)))
    assert {row["name"] for row in rows} >= {"fed", "conture", "bert-ruber", "usr-persona"}
    fed = next(row for row in rows if row["name"] == "fed")
    assert fed["systems"] == "Meena; Mitsuku; Human"
    assert fed["sha256"].startswith("fed_data.json 69a60831")


@pytest.mark.parametrize(("form", "start"), [("markdown", "| name"), ("latex", "\\begin{tabular}")])
def test_other_formats(dialogauge, form, start):
    done = dialogauge("corpora", "--format", form)
    assert done.code == 0
    assert start in done.out


def test_known_faults_are_shown_beside_scores(dialogauge):
    path = annotation("dailyz")
    done: Done = dialogauge("score", path, "--metrics", "length", "--systems", "s00,s01", "--format", "json")
    messages = [warning["message"] for warning in json.loads(done.out)["warnings"] if warning["code"] == "known_fault"]
    assert any(message.startswith(f"{path} is fbd-dailyz: s07 gives random responses: all 100") for message in messages)
