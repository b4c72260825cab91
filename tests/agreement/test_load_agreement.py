"""A study that was kept is read back as it was."""

import json

import numpy as np
import pytest

from dialogauge.agreement.load_agreement import is_agreement_run, load_agreement
from dialogauge.errors import InputError
from dialogauge.evaluation import evaluate
from tests.agreement.corpora import COST, GOOD, quick, rated, shuffled


@pytest.fixture(scope="module")
def study():
    first, second = shuffled(rated(systems=("a", "b", "c"), raters=2)), rated(n=9, seed=1)
    return quick({"first": first, "second": second}, f"{GOOD},{COST},distinct")


def test_all_of_it_comes_back(study, tmp_path):
    run = study.save(tmp_path / "run")
    assert is_agreement_run(run)
    back = load_agreement(run)
    assert back.to_dict() == study.to_dict()
    assert str(back) == str(study)
    for ours, theirs in zip(study.rated, back.rated, strict=True):
        assert ours.corpus == theirs.corpus
        assert [(t.id, t.system, t.response, t.context) for t in ours.turns] == [
            (t.id, t.system, t.response, t.context) for t in theirs.turns
        ]
        for name in ("ratings", "values"):
            assert getattr(ours, name).keys() == getattr(theirs, name).keys()
            for key, numbers in getattr(ours, name).items():
                np.testing.assert_array_equal(numbers, getattr(theirs, name)[key])


def test_without_texts_turns_have_their_names(study, tmp_path):
    back = load_agreement(study.save(tmp_path / "run", texts=False))
    for ours, theirs in zip(study.rated, back.rated, strict=True):
        assert [(t.id, t.system) for t in ours.turns] == [(t.id, t.system) for t in theirs.turns]
        assert {t.response for t in theirs.turns} == {""}


def test_what_is_no_study(study, tmp_path):
    assert not is_agreement_run(tmp_path)
    scores = evaluate("examples/everyday.jsonl", "length", resamples=10).save(tmp_path / "scores")
    assert not is_agreement_run(scores)
    with pytest.raises(InputError, match="expected a run of schema"):
        load_agreement(scores)
    run = study.save(tmp_path / "run")
    document = json.loads((run / "agreement.json").read_text())
    document["rows"][0]["odd"] = 1
    (run / "agreement.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match="run: is not a whole run"):
        load_agreement(run)
