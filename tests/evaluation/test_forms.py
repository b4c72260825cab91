"""How numbers were computed, and whom to cite."""

import re

import pytest

from dialogauge import __version__, correlate
from dialogauge.corpus import Corpus, Turn
from dialogauge.evaluation import compare, evaluate
from dialogauge.evaluation.forms import cited, entries
from dialogauge.metrics import registry

FIELDS = re.compile(r"(\w+) = \{")


@pytest.fixture(scope="module")
def corpus():
    return Corpus(
        [
            Turn(
                str(i),
                f"{'a good' if system == 's0' else 'no'} answer w{i % 5}",
                (f"q{i}",),
                ("a good answer",),
                system,
                ratings={"overall": (float(i % 4), 2.0)},
            )
            for i in range(30)
            for system in ("s0", "s1")
        ]
    )


def test_every_entry_is_whole():
    assert len(entries()) > 20
    for key, entry in entries().items():
        assert entry.startswith("@")
        assert entry.count("{") == entry.count("}")
        assert entry.endswith("\n}")
        fields = FIELDS.findall(entry)
        assert {"author", "title"} <= {*fields}, key
        assert key == "dialogauge" or re.search(rf"year = \{{{re.search(r'[0-9]{4}', key)[0]}\}}", entry), key
        assert len(fields) == len({*fields}), key
        assert "venue" not in fields


def test_every_metric_with_a_paper_cites_an_entry_that_there_is():
    own = {"length", "column", "gauge", "turns", "talk_share", "topic_drift"}
    for name in registry.BUILT_IN:
        keys = registry.metric_class(name).citations
        assert {*keys} <= {*entries()}, name
        assert bool(keys) != (name in own), name


def test_a_recipe_of_another_paper_cites_it_too():
    assert list(cited("bleu|compat:fbd-paper|order:4")) == ["papineni2002bleu", "post2018call", "xiang2021assessing"]
    assert cited("of_a_package_that_is_gone|a:b") == {}


def test_a_metric_of_another_package_brings_its_entry(monkeypatch):
    entry = "@misc{mine2026,\n  title = {Mine}\n}"
    plug_in = type("Mine", (), {"citations": (entry,)})
    monkeypatch.setattr("dialogauge.evaluation.forms.metric_class", lambda _: plug_in)
    assert cited("mine|a:b") == {"mine2026": entry}


def test_the_words_of_scores(corpus):
    text = evaluate(corpus, "rouge_l,distinct", seed=7, resamples=50).citation().text()
    version = f"dialogauge:{__version__}"
    assert text == (
        f"Scores were computed with dialogauge {__version__} [dialogauge]: "
        f"rouge_l [lin2004rouge] (rouge_l|tok:rouge-score|stem:no|{version}), "
        f"distinct [li2016diversity] (distinct|words:nltk-punkt|{version}). "
        "The 95% intervals come from the bootstrap over contexts (50 resamples) for rouge_l and the jackknife over "
        "contexts for distinct; seed 7."
    )


def test_the_words_of_a_comparison(corpus):
    citation = compare(corpus, "rouge_l").citation()
    assert citation.text("latex").endswith(
        r"Systems were compared in pairs over contexts by approximate randomisation (1000 exchanges, seed 0)"
        r"~\cite{noreen1989computer}; p-values are corrected over the pairs of a metric by Holm's method"
        r"~\cite{holm1979simple}."
    )
    assert list(citation.bibtex) == ["dialogauge", "lin2004rouge", "noreen1989computer", "holm1979simple"]


def test_the_words_of_correlations(corpus):
    citation = correlate(corpus, "rouge_l,length", resamples=20).citation()
    assert citation.text().startswith("Correlations with human ratings were computed with dialogauge ")
    assert "permutation tests [deutsch2021statistical] with Holm's correction [holm1979simple]." in citation.text()


def test_each_form_can_be_pasted(corpus):
    citation = evaluate(corpus, "rouge_l").citation()
    latex, markdown = citation.render("latex"), citation.render("markdown")
    assert r"rouge\_l~\cite{lin2004rouge} (rouge\_l\textbar{}\allowbreak{}tok" in latex
    assert "\\begin{filecontents}{dialogauge.bib}\n@misc{dialogauge," in latex
    assert r"rouge\_l [@lin2004rouge]" in markdown
    assert markdown.endswith("}\n```")
    assert str(citation).split("\n\n")[1:] == list(citation.bibtex.values())
