"""Sentences that claim no more than the tests show."""

from dataclasses import replace

import pytest

import dialogauge
from dialogauge.agreement.result import Agreement, AgreementRow, Ceiling, Contrast
from dialogauge.evaluation.answer import find_answer
from dialogauge.evaluation.compare_systems import compare_result
from dialogauge.evaluation.options import Settings
from dialogauge.figures.report.findings import agreement_findings, comparison_findings, score_findings
from tests.figures.report.test_page import turns

SCOPE = {"corpus": "mine", "dimension": "overall", "level": "turn", "system": None}


def row(metric, spearman, low=0.1, high=0.9, p=0.001, top=True, **scope):
    coefficient = {f"{name}{end}": None for name in ("pearson", "kendall") for end in ("", "_low", "_high", "_p")}
    return AgreementRow(
        **{**SCOPE, **scope},
        **coefficient,
        metric=metric,
        n=40,
        spearman=spearman,
        spearman_low=low,
        spearman_high=high,
        spearman_p=p,
        cosine=None,
        pairwise_accuracy=None,
        pearson_top=top,
        spearman_top=top,
        higher_is_better=True,
        signature=f"{metric}|dialogauge:0.1.0",
    )


def ceiling(spearman, split_half):
    raters = {"n": 40, "fewest_raters": 3, "most_raters": 3}
    return Ceiling(**SCOPE, **raters, alpha=0.5, split_half=split_half, pearson=spearman, spearman=spearman)


def contrast(**scope):
    numbers = dict.fromkeys(("difference", "low", "high", "williams_t", "williams_p", "p", "p_sys", "p_holm", "needed"))
    named = {"coefficient": "spearman", "first": "a", "second": "b", "test": None, "better": None}
    return Contrast(**{**SCOPE, **scope}, **numbers, **named)


def agreement(rows, ceilings=(), contrasts=()):
    metrics = list(dict.fromkeys(each.metric for each in rows))
    return Agreement(list(rows), list(ceilings), list(contrasts), [], metrics, (), [], Settings(), "turns")


def test_the_metric_that_judges_leads():
    comparison = dialogauge.compare(turns(), "length,rouge_l", resamples=50)
    findings = comparison_findings(comparison)
    # length has no direction: it comes last, whatever was named first.
    assert [finding.about for finding in findings] == ["rouge_l", "length"]
    assert findings[0].text.startswith("On rouge_l, a is ahead of b by ")
    assert "paired test over 12 contexts; p after Holm's correction over 3 pairs" in findings[0].basis
    assert findings[1].text == "length has neither better nor worse; 3 of 3 differences are clear of chance."


def test_pairs_that_were_asked_for_have_sentences_of_their_own():
    comparison = dialogauge.compare(turns(), "rouge_l", resamples=50, against=["a=b", "a=c"])
    (finding,) = comparison_findings(comparison)
    assert len(finding.sentences) == 2
    assert finding.sentences[0].startswith("On rouge_l, a is ahead of b by ")
    assert finding.sentences[1].startswith("On rouge_l, a is ahead of c by ")
    assert "p after Holm's correction over 2 pairs" in finding.basis


def test_systems_that_cannot_be_told_apart():
    same = [replace(turn, response="the same", system=turn.system) for turn in turns(("a", "b"))]
    (finding,) = comparison_findings(dialogauge.compare(same, "rouge_l", resamples=50))
    assert "no difference between a and b" in finding.text
    assert finding.text.endswith("is clear of chance.")


def test_one_turn_each_is_not_tested():
    (finding,) = comparison_findings(dialogauge.compare(turns(("a", "b"), 1), "rouge_l", resamples=50))
    assert finding.text == "On rouge_l, no test could be made between a and b."


def test_one_system():
    result = dialogauge.evaluate(turns(("a",)), "rouge_l,length", resamples=50)
    assert compare_result(result) is None
    (finding,) = score_findings(result)
    assert finding.text.startswith("There is one system, a: nothing here says whether another would do better.")
    score = result.score("a", "rouge_l")
    assert f"It scores {score.value:.4f} [{score.low:.4f}, {score.high:.4f}] on rouge_l and" in finding.text


@pytest.mark.parametrize(("p", "words"), [(0.3, "no difference from real responses is shown (p = 0.300)"),
                                          (0.01, "its responses differ from real ones (p = 0.010)")])  # fmt: skip
def test_one_system_beside_its_floor(p, words):
    result = dialogauge.evaluate(turns(("a",)), "rouge_l", resamples=50)
    scores = [replace(score, floor=0.1, p=p) for score in result.scores]
    assert words in score_findings(replace(result, scores=scores))[0].text


def test_too_many_systems_are_not_tested():
    result = dialogauge.evaluate(turns([f"s{i}" for i in range(21)], 2), "length", resamples=10)
    assert compare_result(result) is None
    (finding,) = score_findings(result)
    assert "21 systems were scored and not tested against each other. With more than 20" in finding.text


def test_a_run_that_kept_no_rows_is_not_tested():
    result = replace(dialogauge.evaluate(turns(), "length", resamples=10), samples=[])
    assert compare_result(result) is None
    assert "kept summaries alone" in score_findings(result)[0].text


def test_an_answer_is_kept_also_where_rows_are_not():
    comparison = dialogauge.compare(turns(), "rouge_l", resamples=50)
    scores = [score for score in comparison.scores if score.metric == "rouge_l"]
    answer = find_answer(comparison.pairs, scores, "contexts", Settings())
    result = replace(dialogauge.evaluate(turns(), "rouge_l", resamples=10), samples=[], answer=answer)
    assert [finding.sentences for finding in score_findings(result)] == [answer.sentences()]


def test_which_metric_agrees_best_beside_the_ceiling():
    people = ceiling(0.7, split_half=0.81)
    rows = [row("b", 0.3), row("a", 0.5), row("c", 0.1, top=False), row("d", -0.4, -0.6, -0.2, top=False)]
    (finding,) = agreement_findings(agreement(rows, [people], [contrast()]))
    assert finding.sentences == [
        "On mine (overall, 40 turns), a agrees best with people: Spearman 0.50 [0.10, 0.90], p = 0.001.",
        "Not shown to be worse: b.",
        "Shown to be worse: c, d.",
        "Pointing the wrong way: d.",
        # The ceiling is the root of .81.
        "One rater agrees with the others at 0.70, and a metric that knew people's mean would reach 0.90.",
    ]


def test_agreement_by_chance_is_none():
    (finding,) = agreement_findings(agreement([row("a", 0.2, -0.3, 0.6, p=0.4), row("b", 0.1)], contrasts=[contrast()]))
    opening = "no agreement with people is clear of chance; the highest is a, Spearman 0.20 [-0.30, 0.60], p = 0.400."
    assert finding.sentences[0] == f"On mine (overall, 40 turns), {opening}"
    assert "single ratings are not known" in finding.basis


def test_a_mean_over_corpora_leads_and_stands_by_its_interval():
    rows = [row("a", 0.3), row("a", 0.4, p=None, corpus="mean"), row("b", 0.1, p=None, corpus="mean")]
    first, second = agreement_findings(agreement(rows))
    assert first.sentences[0].startswith("On the mean over corpora (overall, 40 corpora, by turn), a has the highest")
    assert first.sentences[1] == "Metrics were not tested against each other here."
    assert second.text == "On mine (overall, 40 turns), a agrees with people: Spearman 0.30 [0.10, 0.90], p = 0.001."


def test_the_whole_comes_before_its_aspects():
    rows = [row("a", 0.3, level="system"), row("a", 0.3, dimension="fluent"), row("a", 0.3, dimension="Overall")]
    found = [finding.about for finding in agreement_findings(agreement(rows))]
    assert found == ["mine (Overall)", "mine (fluent)", "mine (overall)"]


def test_undefined_correlations():
    (finding,) = agreement_findings(agreement([row("a", None, None, None, None)]))
    assert "no metric has a correlation with people's ratings that is defined" in finding.text
