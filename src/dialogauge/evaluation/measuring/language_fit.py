"""Whether texts are in languages that metrics were made for, and how metrics split what is not in Latin letters."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dialogauge.encode.universal import LANGUAGES as UNIVERSAL
from dialogauge.errors import Caveat, quote
from dialogauge.metrics.fitted import FittedWay
from dialogauge.metrics.prepared import AnyPrepared
from dialogauge.tables import in_words
from dialogauge.text.languages import LATIN_LANGUAGES, Languages
from dialogauge.text.splitters import EXTRA

MANY_OUTSIDE = 0.1
"""The share of texts in other languages than a metric was made for from which on it is said."""
FEWEST_TEXTS = 3
"""Fewer texts in Latin letters do not show another language: a quotation has as many words."""
MULTILINGUAL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"


def instead(languages: Collection[str]) -> str:
    """What to take for texts in these languages."""
    at_hand = "--encoder use for metrics of single texts, as semantic_similarity or fbd[pool=mean,context=0]; else "
    known = at_hand if UNIVERSAL.issuperset(languages) else ""
    return (
        f"take an encoder that knows them ({known}--encoder NAME, such as {MULTILINGUAL}, and models trained with it), "
        "or lexical metrics, as chrf"
    )


def language_caveats(languages: Languages, metrics: Mapping[str, AnyPrepared]) -> list[Caveat]:
    """Where texts are in languages that metrics were not made for: once for all that were made for the same."""
    grouped: dict[frozenset[str], tuple[dict[str, None], dict[str, None]]] = {}
    for label, ready in metrics.items():
        for made in ready.made_for:
            labels, what = grouped.setdefault(made.languages, ({}, {}))
            labels[label] = what[made.what] = None
    caveats = []
    for made_for, (labels, what) in grouped.items():
        outside = _outside(languages, made_for)
        if not outside:
            continue
        counts = ", ".join(f"{language} ({count})" for language, count in outside.items())
        example = languages.examples.get(next(iter(outside)), "")
        message = (
            f"{', '.join(labels)}: made for {', '.join(sorted(made_for))} ({', '.join(what)}); "
            f"{sum(outside.values())} of {languages.identified} texts that tell are in another language: {counts}"
            f"{f', such as {quote(example)}' if example else ''}. Scores of them say little: {instead(outside)}"
        )
        caveats.append(Caveat("other_language", message))
    return caveats


def foreign_labels(languages: Languages, metrics: Mapping[str, AnyPrepared]) -> frozenset[str]:
    """The metrics that `language_caveats` warns of."""
    return frozenset(
        label for label, ready in metrics.items() if any(_outside(languages, made.languages) for made in ready.made_for)
    )


def _outside(languages: Languages, made_for: frozenset[str]) -> dict[str, int]:
    """How many texts are in which other language; nothing where they are too few to be spoken of."""
    outside = {
        language: count
        for language, count in languages.outside(made_for).items()
        if count >= FEWEST_TEXTS or language not in LATIN_LANGUAGES
    }
    return outside if sum(outside.values()) > MANY_OUTSIDE * languages.identified else {}


def splitting_caveats(metrics: Mapping[str, AnyPrepared]) -> list[Caveat]:
    """The language by which metrics split texts, where letters alone told it; and what would split them better."""
    ways = {label: ready.fitted_way for label, ready in metrics.items()}
    fitted = {label: way for label, way in ways.items() if way is not None}
    caveats = []
    guessed = {label: way for label, way in fitted.items() if way.guessed}
    if guessed:
        language = next(iter(guessed.values())).language
        message = (
            f"by their letters the texts are taken for {language}, and split accordingly: {_by_way(guessed)}; "
            "--language NAME says otherwise"
        )
        caveats.append(Caveat("guessed_language", message))
    lacking = {label: way for label, way in fitted.items() if way.better is not None}
    if lacking:
        better = in_words(list(dict.fromkeys(f"{way.option}={way.better}" for way in lacking.values())))
        language = next(iter(lacking.values())).language
        message = (
            f"{', '.join(lacking)}: {better} would split {language} better, and is not installed: "
            f"pip install 'dialogauge[{EXTRA}]'"
        )
        caveats.append(Caveat("better_splitting", message))
    return caveats


def _by_way(fitted: Mapping[str, FittedWay]) -> str:
    labels: dict[str, list[str]] = {}
    for label, way in fitted.items():
        labels.setdefault(f"{way.option}={way.way}", []).append(label)
    return ", ".join(f"{way} ({', '.join(names)})" for way, names in labels.items())
