"""Numbers, metrics and systems as people see them."""

import re
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge import plot_scores
from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.evaluation import compare, evaluate
from dialogauge.evaluation.digits import fixed, format_estimates, interval_text, number
from dialogauge.figures.agreement_scatters import correlations_text
from dialogauge.studies.sensitivity import sensitivity

NAMES = {"rouge_l": "ROUGE-L", "s0": "Ours, large"}


def test_a_bound_beside_zero_does_not_become_zero():
    assert interval_text(-0.029, 0.0004, 3) == "[-0.029, 0.0004]"
    assert interval_text(-0.029, -0.00016, 3) == "[-0.029, -0.0002]"
    assert interval_text(0.0, 0.1, 2) == "[0.00, 0.10]"


def test_a_value_whose_interval_is_clear_of_zero_is_not_shown_as_zero():
    assert format_estimates([(0.0004, 0.0001, 0.0007)], 3) == [("0.0004", "[0.0001, 0.0007]")]
    assert format_estimates([(0.0004, -0.1, 0.1)], 3) == [("0.000", "[-0.100, 0.100]")]


@pytest.mark.parametrize(
    ("estimate", "digits", "shown"),
    [
        # Without decimals 0.454 would be zero and 0.538 one: the first needs one decimal, so all have one.
        ((0.499, 0.454, 0.538), 0, ("0.5", "[0.5, 0.5]")),
        ((0.499, 0.454, 0.538), 1, ("0.5", "[0.5, 0.5]")),
        # 0.012 needs two decimals where one is asked for; 0.084 and 0.151 have them too.
        ((0.084, 0.012, 0.151), 1, ("0.08", "[0.01, 0.15]")),
        ((-0.084, -0.151, -0.012), 1, ("-0.08", "[-0.15, -0.01]")),
        # Zero itself asks for none, and a value whose interval holds zero may be zero.
        ((0.3, 0.0, 1.2), 0, ("0", "[0, 1]")),
        ((0.02, -0.6, 0.7), 0, ("0", "[-1, 1]")),
        # Neither 7.6 nor 8.2 is shown as zero.
        ((7.9, 7.6, 8.2), 0, ("8", "[8, 8]")),
        # What is next to nothing is written in another way, and asks nothing of its neighbours.
        ((0.2, 2e-7, 0.4), 1, ("0.2", "[2.0e-07, 0.4]")),
        # Two digits of the width are there: only the bound beside zero takes more.
        ((-0.014, -0.029, 0.0004), 3, ("-0.014", "[-0.029, 0.0004]")),
    ],
)
def test_a_value_and_its_interval_share_their_decimals(estimate, digits, shown):
    assert format_estimates([estimate], digits) == [shown]


@given(st.floats(-10, 10), st.floats(0, 10), st.integers(0, 6))
def test_an_interval_says_on_which_side_of_zero_it_lies(low, width, decimals):
    high = low + width
    shown = [float(bound) for bound in interval_text(low, high, decimals)[1:-1].split(", ")]
    assert [(bound > 0) - (bound < 0) for bound in shown] == [(bound > 0) - (bound < 0) for bound in (low, high)]


@pytest.fixture(scope="module")
def corpus():
    """Two systems on 40 contexts whose lengths vary much and differ little."""
    return Corpus(
        [
            Turn(str(i), "word " * (i % 13 + 1 + (system == "b" and i % 2)), (f"q{i}",), system=system)
            for i in range(40)
            for system in ("a", "b")
        ]
    )


def decimals(text, column):
    return {len(number.partition(".")[2]) for number in re.findall(column, text)}


def test_a_metric_has_the_same_digits_in_every_table(corpus):
    scores = str(evaluate(corpus, "length"))
    both, pairs = compare(corpus, "length").all_tables()
    steps = sensitivity(corpus, "length", kinds="truncate", ratios=[1])
    shown = {cell.text.partition(".")[2] for row in both.rows for cell in row[2:]}
    differences = {row[3].text.partition(".")[2] for row in pairs.rows}
    kept = {len(row[3].text.partition(".")[2]) for row in steps.to_table().rows}
    (found,) = decimals(scores, r"(\d+\.\d+)  ?\[")
    assert {len(digits) for digits in shown} == {len(digits) for digits in differences} == kept == {found}


def test_digits_that_are_asked_for(corpus):
    result = evaluate(corpus, "length,distinct")
    assert decimals(result.render("table", digits=4), r"(\d+\.\d+)  ?\[") == {4}
    assert decimals(evaluate(corpus, "length").to_latex(digits=1), r"(\d+\.\d+) \{") == {1}
    assert result.render("json", digits=1) == result.to_json()
    with pytest.raises(InputError, match="digits: expected a whole number from 0 to 15, found -1"):
        result.render("table", digits=-1)


def test_a_corner_of_a_figure_says_on_which_side_of_zero_an_interval_lies():
    row = SimpleNamespace(pearson=0.2, pearson_low=0.004, pearson_high=0.4, spearman=-0.2, spearman_low=None)
    row.spearman_high = None
    assert correlations_text(row) == "r = 0.20 [0.004, 0.40]\nρ = −0.20"


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (0.12345, "0.123"), (-0.0001, "0.000"), (-1.0, "-1.000"), (0.9996, "1.000")]
)
def test_fixed_decimals(value, text):
    assert fixed(value) == text


def test_only_a_tiny_number_is_not_fixed():
    assert [number(value, 3) for value in (None, 0.0, -0.0004, 2e-7)] == ["–", "0.000", "0.000", "2.0e-07"]


@pytest.fixture(scope="module")
def two_systems():
    return Corpus(
        [
            Turn(str(i), f"{'a good' if system == 's0' else 'no'} answer w{i}", (f"q{i}",), ("a good answer",), system)
            for i in range(30)
            for system in ("s0", "s1")
        ]
    )


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
@pytest.mark.parametrize("verb", [evaluate, compare])
def test_people_see_the_new_names_and_the_signature_keeps_the_old(two_systems, verb, form):
    text = verb(two_systems, "rouge_l,length").render(form, names=NAMES)
    assert "ROUGE-L" in text
    assert "Ours, large" in text
    assert "s0" not in text
    assert text.replace("\\", "").count("rouge_l") == 1


def test_every_place_of_a_comparison_has_the_new_name(two_systems):
    shown = compare(two_systems, "rouge_l").renamed(NAMES)
    (pair,) = shown.pairs
    assert (pair.metric, pair.first, pair.second, pair.better) == ("ROUGE-L", "Ours, large", "s1", "Ours, large")
    assert shown.beats("Ours, large", "ROUGE-L") == ["s1"]


@pytest.mark.parametrize("form", ["json", "csv"])
def test_programs_see_the_old_names(two_systems, form):
    result = evaluate(two_systems, "rouge_l")
    assert result.render(form, names=NAMES) == result.render(form)


def test_figures_have_the_new_names(two_systems, tmp_path):
    path = plot_scores(evaluate(two_systems, "rouge_l").renamed(NAMES), tmp_path / "f.svg")
    assert "<!-- ROUGE-L -->" in path.read_text()
    assert "<!-- Ours, large -->" in path.read_text()


def test_unknown_names_and_names_that_make_two_things_one_are_refused(two_systems):
    result = evaluate(two_systems, "rouge_l")
    with pytest.raises(InputError, match="unknown metric or system 'rouge_1'; did you mean rouge_l"):
        result.render("table", names={"rouge_1": "ROUGE"})
    with pytest.raises(InputError, match="s0 and s1 would both be called 'x'"):
        result.render("table", names={"s0": "x", "s1": "x"})
