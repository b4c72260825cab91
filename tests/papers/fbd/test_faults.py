"""The faults of the published files, counted on the files themselves and on a small folder that has none of them."""

import json

import pytest

from dialogauge.errors import InputError
from dialogauge.papers.fbd.faults import CHECKS, faults
from tests.corpus.files import write, write_lines
from tests.shared import SIX, annotation, shared

SYSTEMS = {"convai2": 4, "dailyh": 11, "dailyz": 8, "empathetic": 11, "personam": 4, "personaz": 5}
GRADED = ("bert_ranker", "dialogGPT", "transformer_generator", "transformer_ranker")


def items(corpus):
    """Three contexts; each response takes up a word that only its own context has, and no two are equal."""
    for n in range(3):
        yield {
            "src": f"do you like {corpus}{n} ? well",
            "refs": [f"who knows {corpus}{n}"],
            "hyps": [f"{corpus}{n} no {system}" for system in range(SYSTEMS[corpus])],
            "human_scores": [[n + system / 100] for system in range(SYSTEMS[corpus])],
        }


@pytest.fixture
def folder(tmp_path):
    """The six files without any fault."""
    for corpus in SIX:
        write_lines(tmp_path / f"{corpus}_annotation.json", *items(corpus))
    return tmp_path


@pytest.fixture
def grade(tmp_path):
    """GRADE's directory as it would be if the six files above were right; case and spaces differ."""
    for here, there, systems in (
        ("convai2", "convai2", GRADED),
        ("dailyh", "dailydialog", GRADED[2:]),
        ("empathetic", "empatheticdialogues", GRADED[2:]),
    ):
        for place, system in enumerate(systems):
            where = tmp_path / "grade" / "eval_data" / there / system
            where.mkdir(parents=True)
            write(where / "human_ctx.txt", "".join(f"Do you like {here}{n} ?|||well\n" for n in range(3)))
            write(where / "human_hyp.txt", "".join(f"{here}{n}  NO {place}\n" for n in range(3)))
    # The FBD files put a full stop between utterances that do not end in one.
    records = [{**item, "src": f"do you like convai2{n} ? . well"} for n, item in enumerate(items("convai2"))]
    write_lines(tmp_path / "convai2_annotation.json", *records)
    return tmp_path / "grade"


@pytest.fixture
def conversations(tmp_path):
    return [write(tmp_path / "talk.txt", "Hello there , friend . __eou__ Dailyz0 no -7 ! __eou__ bye __eou__\n")]


def counts(result, check=None):
    return {(row.corpus, row.fault): (row.found, row.of) for row in result.rows if check is None or row.check == check}


def published(**given):
    return faults(annotation("dailyh").parent, **given)


def test_nothing_is_found_where_nothing_is_wrong(folder, grade):
    result = faults(folder, grade=grade, conversations=[write(folder / "talk.txt", "hi __eou__ oh __eou__\n")])
    assert {row.check for row in result.rows} == set(CHECKS)
    assert [row for row in result.rows if row.found] == []
    assert {(row.corpus, row.of) for row in result.rows if row.check == "mixtures"} == {
        ("fbd-dailyh", 27),
        ("fbd-empathetic", 27),
    }
    assert {caveat.code for caveat in result.caveats} == {"unrated_turns"}
    assert len(result.files) == len(set(result.files)) == 6 + 2 * (4 + 2 + 2) + 1


def test_each_fault_is_found_when_it_is_put_in(folder, grade, conversations):
    def write_over(corpus, change, source=None):
        records = [change(n, item) for n, item in enumerate(items(source or corpus))]
        write_lines(folder / f"{corpus}_annotation.json", *records)

    def mixed(n, item):
        """System 2 copies system 0 with its rating, system 3 copies system 1 without."""
        item["hyps"][2:4] = item["hyps"][:2]
        item["human_scores"][2] = item["human_scores"][0]
        return item

    def misplaced(n, item):
        item["src"] = f"do you like convai2{n} ? . well"
        item["hyps"][1] = f"convai2{(n + 1) % 3} no 1"
        return item

    def random(n, item):
        item["hyps"][7] = f"dailyz{(n + 1) % 3} no 7"
        item["src"] += " "
        return item

    write_over("dailyh", mixed)
    write_over("empathetic", lambda _, item: item, source="dailyh")
    write_over("convai2", misplaced)
    write_over("dailyz", random)
    result = faults(folder, grade=grade, conversations=conversations)
    assert {key: count for key, count in counts(result).items() if count[0]} == {
        ("fbd-empathetic", "contexts are those of fbd-dailyh"): (3, 3),
        ("fbd-empathetic", "references are those of fbd-dailyh"): (3, 3),
        ("fbd-empathetic", "responses are those of fbd-dailyh"): (6, 6),
        ("fbd-empathetic", "ratings are those of fbd-dailyh"): (6, 6),
        ("fbd-empathetic", "responses are not GRADE's to EmpatheticDialogues"): (6, 6),
        ("fbd-dailyh", "mixtures repeat real responses"): (6, 27),
        ("fbd-dailyh", "mixtures repeat their ratings"): (3, 27),
        ("fbd-convai2", "dialogGPT answered other contexts"): (3, 3),
        ("fbd-convai2", "dialogGPT answered other contexts in GRADE"): (3, 3),
        ("fbd-dailyz", "s07 gives random responses"): (3, 3),
        ("fbd-dailyz", "s07 repeats what people said"): (1, 3),
        ("fbd-dailyz", "contexts have stray spaces"): (3, 3),
    }


def test_empathetic_is_dailyh():
    result = published(only="empathetic-is-dailyh", grade=shared("corpora/grade"))
    assert counts(result) == {
        ("fbd-empathetic", "contexts are those of fbd-dailyh"): (150, 150),
        ("fbd-empathetic", "references are those of fbd-dailyh"): (150, 150),
        ("fbd-empathetic", "responses are those of fbd-dailyh"): (300, 300),
        ("fbd-empathetic", "ratings are those of fbd-dailyh"): (300, 300),
        ("fbd-empathetic", "responses are not GRADE's to EmpatheticDialogues"): (300, 300),
    }
    assert "861 of 1350" in result.rows[2].evidence
    assert result.rows[4].evidence == "0 are; 300 are GRADE's responses to DailyDialog"


def test_mixtures():
    result = published(only="mixtures")
    assert [(row.corpus, row.found, row.of) for row in result.rows] == [
        ("fbd-dailyh", 1350, 1350),
        ("fbd-dailyh", 1350, 1350),
        ("fbd-empathetic", 1350, 1350),
        ("fbd-empathetic", 1350, 1350),
    ]
    assert result.rows[0].evidence.endswith("each mixture: 12, 35, 45, 66, 73, 89, 119, 119, 137")
    assert result.rows[2].evidence.endswith("each mixture: 14, 16, 50, 60, 75, 96, 105, 119, 137")


def test_wrong_contexts():
    result = published(only="wrong-contexts", grade=shared("corpora/grade"))
    assert counts(result) == {
        ("fbd-convai2", "dialogGPT answered other contexts"): (126, 150),
        ("fbd-convai2", "transformer_generator answered other contexts"): (142, 150),
        ("fbd-convai2", "transformer_ranker answered other contexts"): (134, 150),
        ("fbd-convai2", "bert_ranker answered other contexts in GRADE"): (0, 150),
        ("fbd-convai2", "dialogGPT answered other contexts in GRADE"): (142, 150),
        ("fbd-convai2", "transformer_generator answered other contexts in GRADE"): (147, 150),
        ("fbd-convai2", "transformer_ranker answered other contexts in GRADE"): (147, 150),
    }
    assert [row.evidence.split("; ")[1:] for row in result.rows[:3]] == [
        ["129.6 by chance", "72 of bert_ranker's"],
        ["141.4 by chance", "72 of bert_ranker's"],
        ["136.4 by chance", "72 of bert_ranker's"],
    ]
    assert all("; 150 at its place" in row.evidence for row in result.rows[3:])


def test_random_responses():
    files = [shared(f"training/dailydialog/dialogues_{part}.txt.gz") for part in ("train", "validation", "test")]
    files.append(shared("training/convai2/valid_both_original_no_cands.txt.gz"))
    result = published(only="random-responses", conversations=files)
    assert counts(result) == {
        ("fbd-dailyz", "s07 gives random responses"): (91, 100),
        ("fbd-dailyz", "s07 repeats what people said"): (100, 100),
        ("fbd-personaz", "s04 gives random responses"): (131, 150),
        ("fbd-personaz", "s04 repeats what people said"): (150, 150),
    }
    named = "; Zhao et al. call it negative-sample"
    assert [row.evidence.split("; ", 1)[1] for row in result.rows] == [
        "89.3 by chance; other systems 53 to 73; mean rating 2.21, others 2.78 to 3.77" + named,
        "other systems 18 to 35",
        "129.8 by chance; other systems 79 to 106; mean rating 2.00, others 3.03 to 3.56" + named,
        "other systems 3 to 10",
    ]


def test_stray_spaces():
    result = published(only="stray-spaces")
    assert counts(result) == {
        ("fbd-dailyz", "contexts have stray spaces"): (100, 100),
        ("fbd-personam", "contexts have stray spaces"): (60, 60),
        ("fbd-personaz", "contexts have stray spaces"): (150, 150),
        ("fbd-personaz", "references have stray spaces"): (150, 150),
        ("fbd-personaz", "responses have stray spaces"): (450, 750),
    }
    assert result.rows[-1].evidence == "450 begin and 0 end in a space; s00 150, s01 150, s02 0, s03 0, s04 150"


def test_forms(folder):
    result = faults(folder, "mixtures")
    document = json.loads(result.to_json())
    assert document["schema"] == "dialogauge.faults/1"
    assert document["rows"] == result.to_records()
    assert [file["reader"] for file in document["files"]] == ["fbd", "fbd"]
    assert list(document["rows"][0]) == ["check", "corpus", "fault", "evidence", "found", "of"]
    assert str(result).splitlines()[0].split() == ["corpus", "fault", "found", "of", "evidence"]
    assert "by chance" not in str(result)
    assert "by chance: " in str(faults(folder, "random-responses"))


def test_what_is_not_given_is_said(folder):
    assert [caveat.message for caveat in faults(folder).caveats] == [
        "without GRADE's directory, nothing is looked up in GRADE",
        "without conversations, no response is looked up in what people said",
    ]


def test_without_ratings(folder):
    for corpus in SIX:
        bare = [{key: value for key, value in item.items() if key != "human_scores"} for item in items(corpus)]
        write_lines(folder / f"{corpus}_annotation.json", *bare)
    assert {row.found for row in faults(folder).rows} == {0}


def test_a_missing_file_is_named(folder):
    (folder / "dailyh_annotation.json").unlink()
    with pytest.raises(InputError, match="dailyh_annotation.json: no such file; expected the folder .*frechet-bert"):
        faults(folder)
    assert faults(folder, "stray-spaces").rows


def test_a_file_of_other_systems_is_refused(folder):
    write_lines(folder / "personaz_annotation.json", *items("convai2"))
    with pytest.raises(InputError, match="personaz_annotation.json: expected 5 systems, as fbd-personaz has, found 4"):
        faults(folder)


def test_another_directory_than_grade_is_refused(folder, grade):
    with pytest.raises(InputError, match="expected GRADE's directory, with eval_data/convai2 in it"):
        faults(folder, "wrong-contexts", grade=folder)
    (grade / "eval_data" / "convai2" / "dialogGPT" / "human_hyp.txt").unlink()
    with pytest.raises(InputError, match="expected a directory for each system, found none for dialogGPT"):
        faults(folder, "wrong-contexts", grade=grade)


def test_an_unknown_check_is_answered_with_the_nearest(folder):
    with pytest.raises(InputError, match="unknown fault 'mixture'; did you mean mixtures"):
        faults(folder, "mixture")
