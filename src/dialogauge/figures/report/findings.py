"""What a result comes to, in sentences that claim no more than its tests show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dialogauge.agreement.points import COUNTED, LEVELS, OVERALL, Scope
from dialogauge.agreement.result import MEAN, Agreement, AgreementRow
from dialogauge.evaluation.answer import MOST_SYSTEMS, find_answer
from dialogauge.evaluation.comparison import Comparison
from dialogauge.evaluation.digits import fixed, format_estimates, interval_text, value_text
from dialogauge.evaluation.pairs import ALPHA, Pair
from dialogauge.evaluation.result import Result, Score, decimals_of_scores
from dialogauge.tables import counted, first_few, in_words

NAMED = 6
"""So many metrics or systems are named in a sentence."""
DECIMALS = 2


@dataclass(frozen=True)
class Finding:
    """About one metric, or one scope of an agreement."""

    about: str
    sentences: list[str]
    basis: str = ""

    @property
    def text(self) -> str:
        return " ".join(self.sentences)


def comparison_findings(comparison: Comparison, digits: int | None = None) -> list[Finding]:
    """Under each metric. First the one that judges the default set, else the first that knows better from worse."""
    lead = comparison.answer.metric if comparison.answer else None
    found = [_under(comparison, metric, digits) for metric in comparison.columns]
    directions = {score.metric: score.higher_is_better for score in comparison.scores}
    return sorted(found, key=lambda finding: (finding.about != lead, directions[finding.about] is None))


def score_findings(result: Result, digits: int | None = None) -> list[Finding]:
    """Where systems were not tested against each other, or under one metric alone."""
    if result.answer:
        return [Finding(result.answer.metric, result.answer.sentences(digits), result.answer.basis())]
    if len(result.systems) == 1:
        system = next(iter(result.systems))
        opening = f"There is one system, {system}: nothing here says whether another would do better."
        return [Finding("", [opening, *_scored(result, system)])]
    if len(result.systems) > MOST_SYSTEMS:
        why = f"With more than {MOST_SYSTEMS} systems, `dialogauge compare` makes the tests, and takes its time."
    else:
        why = "This run kept summaries alone, which no test can stand on; `dialogauge compare` goes through the files."
    opening = f"The {len(result.systems)} systems were scored and not tested against each other. {why}"
    return [Finding("", [opening, "Where intervals overlap, which system is better stays open."])]


def agreement_findings(agreement: Agreement) -> list[Finding]:
    """Of each scope with all systems: the mean over corpora first, turns before systems, the whole before aspects."""
    scopes = [scope for scope in agreement.scopes if scope.system is None]
    scopes.sort(key=lambda s: (s.corpus != MEAN, LEVELS.index(s.level), s.dimension.casefold() != OVERALL))
    return [Finding(_where(scope), _agreeing(agreement, scope), _agreement_basis(agreement)) for scope in scopes]


def _under(comparison: Comparison, metric: str, digits: int | None) -> Finding:
    pairs = [pair for pair in comparison.pairs if pair.metric == metric]
    scores = [score for score in comparison.scores if score.metric == metric]
    if scores[0].higher_is_better is None:
        return Finding(metric, [_undirected(metric, pairs)])
    every = len(comparison.systems) * (len(comparison.systems) - 1) // 2
    groups = [(pairs, scores)]
    if len(pairs) < every:  # only some were asked for
        groups = [([pair], [score for score in scores if score.system in (pair.first, pair.second)]) for pair in pairs]
    answers = [find_answer(mine, both, comparison.unit, comparison.settings) for mine, both in groups]
    decimals = decimals_of_scores(scores)
    known = [replace(answer, decimals=decimals) for answer in answers if answer is not None]
    if not known:
        return Finding(metric, [f"On {metric}, nothing can be ranked: fewer than two systems have a value."])
    sentences = [sentence for answer in known[:NAMED] for sentence in answer.sentences(digits)]
    left_out = len(known) - NAMED
    if left_out > 0:
        sentences.append(f"{counted(left_out, 'more pair')} of this metric stand{'s' if left_out == 1 else ''} below.")
    return Finding(metric, sentences, replace(known[0], pairs=pairs).basis())


def _undirected(metric: str, pairs: Sequence[Pair]) -> str:
    tested = [pair for pair in pairs if pair.p_holm is not None]
    clear = [pair for pair in tested if pair.p_holm is not None and pair.p_holm < ALPHA]
    if not tested:
        return f"{metric} has neither better nor worse, and no pair of systems could be tested."
    verb = "is" if len(clear) == 1 else "are"
    counts = f"{len(clear)} of {counted(len(tested), 'difference')} {verb} clear of chance"
    return f"{metric} has neither better nor worse; {counts}."


def _scored(result: Result, system: str) -> list[str]:
    scores = [result.score(system, metric) for metric in result.columns]
    texts = [f"{_value(score)} on {score.metric}" for score in scores[:NAMED] if score.value is not None]
    said = [f"It scores {in_words(texts)}."] if texts else ["No metric has a value for it."]
    for score in scores:
        if score.floor is None or score.p is None or score.value is None:
            continue
        p = "p < 0.001" if score.p < 0.001 else f"p = {score.p:.3f}"
        if score.p < ALPHA:
            said.append(f"By {score.metric} its responses differ from real ones ({p}).")
        else:
            said.append(f"By {score.metric} no difference from real responses is shown ({p}).")
    return said


def _value(score: Score) -> str:
    ((value, interval),) = format_estimates([(score.value, score.low, score.high)], decimals_of_scores([score]))
    return f"{value} {interval}".strip()


def _agreeing(agreement: Agreement, scope: Scope) -> list[str]:
    mine = [row for row in agreement.rows if row.scope == scope]
    known = sorted((row for row in mine if row.spearman is not None), key=lambda row: -(row.spearman or 0.0))
    where = _where(scope, _size(scope, mine))
    if not known:
        return [f"On {where}, no metric has a correlation with people's ratings that is defined."]
    best, others = known[0], known[1:]
    tested = any(contrast.scope == scope and contrast.coefficient == "spearman" for contrast in agreement.contrasts)
    if not _clear(best):
        highest = "; the highest is" if others else ":"
        found = f"no agreement with people is clear of chance{highest} {best.metric}, Spearman {_correlation(best)}"
    elif not others:
        found = f"{best.metric} agrees with people: Spearman {_correlation(best)}"
    elif tested:
        found = f"{best.metric} agrees best with people: Spearman {_correlation(best)}"
    else:
        found = f"{best.metric} has the highest agreement with people: Spearman {_correlation(best)}"
    return [f"On {where}, {found}.", *_others(others, tested), *_wrong_way(known), *_ceiling(agreement, scope)]


def _clear(row: AgreementRow) -> bool:
    """Whether it agrees with people beyond chance: by its test or, where it has none, by its interval."""
    if row.spearman_p is None:
        return row.spearman_low is not None and row.spearman_low > 0
    return row.spearman_p < ALPHA and (row.spearman or 0.0) > 0


def _others(others: Sequence[AgreementRow], tested: bool) -> list[str]:
    if not others:
        return []
    if not tested:
        return ["Metrics were not tested against each other here."]
    level = [row.metric for row in others if row.spearman_top]
    worse = [row.metric for row in others if not row.spearman_top]
    said = [f"Not shown to be worse: {first_few(level, NAMED)}."] if level else []
    return [*said, *([f"Shown to be worse: {first_few(worse, NAMED)}."] if worse else [])]


def _wrong_way(rows: Sequence[AgreementRow]) -> list[str]:
    wrong = [row.metric for row in rows if row.spearman_high is not None and row.spearman_high < 0]
    return [f"Pointing the wrong way: {first_few(wrong, NAMED)}."] if wrong else []


def _ceiling(agreement: Agreement, scope: Scope) -> list[str]:
    people = agreement.ceiling(scope)
    if people is None:
        return []
    said = []
    if people.spearman is not None:
        said.append(f"one rater agrees with the others at {fixed(people.spearman, DECIMALS)}")
    if people.reachable is not None:
        said.append(f"a metric that knew people's mean would reach {fixed(people.reachable, DECIMALS)}")
    text = ", and ".join(said)
    return [f"{text[0].upper()}{text[1:]}."] if text else []


def _correlation(row: AgreementRow) -> str:
    estimate = (row.spearman, row.spearman_low, row.spearman_high)
    p = "" if row.spearman_p is None else "p < 0.001" if row.spearman_p < 0.001 else f"p = {row.spearman_p:.3f}"
    interval = interval_text(row.spearman_low, row.spearman_high, DECIMALS)
    return ", ".join(filter(None, (f"{value_text(estimate, DECIMALS)} {interval}".strip(), p)))


def _where(scope: Scope, size: str = "") -> str:
    corpus = "the mean over corpora" if scope.corpus == MEAN else scope.corpus
    return f"{corpus} ({', '.join(filter(None, (scope.dimension, size)))})"


def _size(scope: Scope, rows: Sequence[AgreementRow]) -> str:
    counts = sorted({row.n for row in rows})
    number = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{number} corpora, by {scope.level}" if scope.corpus == MEAN else f"{number} {COUNTED[scope.level]}"


def _agreement_basis(agreement: Agreement) -> str:
    level = f"{100 * agreement.settings.confidence:.4g}%"
    return (
        f"[low, high]: {level} interval, bootstrap over {agreement.unit}; p by permutations of the ratings, not "
        "corrected over metrics; metrics against each other by permutation tests after Holm's correction"
        f"{'' if agreement.ceilings else '; single ratings are not known, and so how far people agree is not'}"
    )
