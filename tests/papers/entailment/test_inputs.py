"""Rated corpora in a folder, found by their content."""

import numpy as np
import pytest

from dialogauge.errors import InputError
from dialogauge.papers.entailment.inputs import read_corpora
from tests.papers.entailment.world import CONTEXTS, write_conture, write_fed, write_grade
from tests.shared import shared


def test_all_that_is_there(tmp_path):
    (tmp_path / "g").mkdir()
    write_grade(tmp_path / "g", ("dailydialog", "other", "convai2"))
    write_fed(tmp_path / "talk.json")
    write_conture(tmp_path / "deep" / "chats.json")
    (tmp_path / "notes.json").write_text("{}")
    found, caveats = read_corpora(tmp_path)
    assert [each.name for each in found] == ["grade-convai2", "grade-dailydialog", "grade-other", "fed", "conture"]
    assert [each.title for each in found][1:3] == ["GRADE DailyDialog", "GRADE other"]
    assert [len(each.turns) for each in found] == [2 * CONTEXTS] * 3 + [16, 20]
    assert [int(each.units.max()) + 1 for each in found] == [CONTEXTS] * 3 + [8, 10]
    assert [caveat.message for caveat in caveats] == [
        f"not in {tmp_path}, and left out: GRADE EmpatheticDialogues",
    ]


def test_ratings_are_means_and_scaled_by_the_ends(tmp_path):
    write_grade(tmp_path, ("convai2",))
    (found,), _ = read_corpora(tmp_path)
    expected = [np.mean(turn.ratings["coherence"]) for turn in found.turns]
    assert found.people.tolist() == pytest.approx(expected)
    assert found.scaled.tolist() == pytest.approx([(mean - 1) / 4 for mean in expected])


def test_some_by_name(tmp_path):
    write_fed(tmp_path / "a" / "fed_data.json")
    write_grade(tmp_path, ("convai2",))
    (only,), caveats = read_corpora(tmp_path, ["fed"])
    assert (only.name, caveats) == ("fed", [])
    with pytest.raises(InputError, match="ConTurE is not here; found grade-convai2, fed"):
        read_corpora(tmp_path, ["conture"])
    with pytest.raises(InputError, match="unknown rated corpus 'convai2'; did you mean grade-convai2"):
        read_corpora(tmp_path, ["convai2"])


def test_a_folder_without_any(tmp_path):
    with pytest.raises(InputError, match="expected GRADE's evaluation data .* found none"):
        read_corpora(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        read_corpora(tmp_path / "none")


def test_one_twice(tmp_path):
    write_fed(tmp_path / "a.json")
    write_fed(tmp_path / "b.json")
    with pytest.raises(InputError, match=r"FED is here twice: .*a\.json and .*b\.json"):
        read_corpora(tmp_path)


def test_ratings_off_the_scale(tmp_path):
    path = write_fed(tmp_path / "a.json")
    path.write_text(path.read_text().replace('"Relevant": [', '"Relevant": [40, '))
    with pytest.raises(InputError, match=r"a\.json: Relevant: expected ratings from 0 to 2, found"):
        read_corpora(tmp_path)


def test_turns_without_the_rating_are_counted(tmp_path):
    path = write_fed(tmp_path / "a.json")
    path.write_text(path.read_text().replace('"Relevant"', '"Correct"', 3))
    (found,), caveats = read_corpora(tmp_path)
    assert len(found.turns) == 13
    assert "FED: 3 of 16 turns lack the rating Relevant, and are left out" in [each.message for each in caveats]


def test_the_real_ones():
    found, _ = read_corpora(shared("corpora"))
    assert {each.title: len(each.turns) for each in found} == {
        "GRADE ConvAI2": 600,
        "GRADE DailyDialog": 300,
        "GRADE EmpatheticDialogues": 300,
        "FED": 375,
        "ConTurE": 1066,
    }
    assert all(each.scaled.min() >= 0 and each.scaled.max() <= 1 for each in found)
