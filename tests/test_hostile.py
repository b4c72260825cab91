"""Damaged encoders, word vectors, kept runs and models, and odd options: used or refused, nothing else."""

from random import Random

import pytest

from tests.hostile import SUBJECTS, outcome

CASES = 60


@pytest.mark.parametrize("name", SUBJECTS)
def test_nothing_but_input_errors(name, tmp_path):
    (tmp_path / "pristine").mkdir()
    pristine = SUBJECTS[name][0](tmp_path / "pristine")
    outcomes = []
    for case in range(CASES):
        folder = tmp_path / str(case)
        folder.mkdir()
        outcomes.append(outcome(name, pristine, folder, Random(f"{name}:{case}")))
    assert outcomes.count("refused") > 3
    assert outcomes.count("used") > 3
