"""Metrics and systems under other names."""

import pytest

from dialogauge import plot_scores
from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.evaluation import compare, evaluate

NAMES = {"rouge_l": "ROUGE-L", "s0": "Ours, large"}


@pytest.fixture(scope="module")
def corpus():
    return Corpus(
        [
            Turn(str(i), f"{'a good' if system == 's0' else 'no'} answer w{i}", (f"q{i}",), ("a good answer",), system)
            for i in range(30)
            for system in ("s0", "s1")
        ]
    )


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
@pytest.mark.parametrize("verb", [evaluate, compare])
def test_people_see_the_new_names_and_the_signature_keeps_the_old(corpus, verb, form):
    text = verb(corpus, "rouge_l,length").render(form, names=NAMES)
    assert "ROUGE-L" in text
    assert "Ours, large" in text
    assert "s0" not in text
    assert text.replace("\\", "").count("rouge_l") == 1


def test_every_place_of_a_comparison_has_the_new_name(corpus):
    shown = compare(corpus, "rouge_l").renamed(NAMES)
    (pair,) = shown.pairs
    assert (pair.metric, pair.first, pair.second, pair.better) == ("ROUGE-L", "Ours, large", "s1", "Ours, large")
    assert shown.beats("Ours, large", "ROUGE-L") == ["s1"]


@pytest.mark.parametrize("form", ["json", "csv"])
def test_programs_see_the_old_names(corpus, form):
    result = evaluate(corpus, "rouge_l")
    assert result.render(form, names=NAMES) == result.render(form)


def test_figures_have_the_new_names(corpus, tmp_path):
    path = plot_scores(evaluate(corpus, "rouge_l").renamed(NAMES), tmp_path / "f.svg")
    assert "<!-- ROUGE-L -->" in path.read_text()
    assert "<!-- Ours, large -->" in path.read_text()


def test_unknown_names_and_names_that_make_two_things_one_are_refused(corpus):
    result = evaluate(corpus, "rouge_l")
    with pytest.raises(InputError, match="unknown metric or system 'rouge_1'; did you mean rouge_l"):
        result.render("table", names={"rouge_1": "ROUGE"})
    with pytest.raises(InputError, match="s0 and s1 would both be called 'x'"):
        result.render("table", names={"s0": "x", "s1": "x"})
