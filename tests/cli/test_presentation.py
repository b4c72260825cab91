"""How results are shown: digits and names."""

import json

import pytest


def test_names_between_commas_or_one_by_one(dialogauge, responses):
    call = ("score", responses, "--metrics", "bleu[lowercase=true],length")
    done = dialogauge(*call, "--names", "bleu[lowercase=true]=BLEU,b=Theirs", "--names", "a=Ours, the large one")
    assert done.code == 0
    header, _, first, second, *_ = done.out.split("\n")
    assert header.split()[2:4] == ["BLEU", "↑"]
    assert first.startswith("Ours, the large one  ")
    assert second.startswith("Theirs  ")


def test_programs_see_names_and_digits_as_they_are(dialogauge, responses):
    call = ("compare", responses, "--metrics", "bleu", "--format", "json")
    done = dialogauge(*call, "--names", "bleu=BLEU,a=Ours", "--digits", "1")
    assert json.loads(done.out) == json.loads(dialogauge(*call).out)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--names", "bluu=BLEU"), "unknown metric or system 'bluu'; did you mean bleu?"),
        (("--names", "bleu"), "--names: expected NAME=SHOWN, found 'bleu'"),
        (("--names", "=x"), "--names: expected NAME=SHOWN, found '=x'"),
        (("--digits", "16"), "digits: expected a whole number from 0 to 15, found 16"),
    ],
)
def test_what_cannot_be_shown_is_refused(dialogauge, responses, options, message):
    done = dialogauge("score", responses, "--metrics", "bleu", *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_an_explanation_has_the_names_that_it_knows(dialogauge, responses):
    names = ("--names", "bleu=BLEU,fbd=FBD,a=Ours")
    done = dialogauge("score", responses, "--metrics", "bleu", "--explain", "fbd", *names, "--digits", "4")
    assert done.code == 0
    assert "by how much FBD would fall" in done.out
    assert done.out.count("Ours") == 1 + 10


@pytest.mark.parametrize("verb", ["score", "compare"])
def test_cite(dialogauge, responses, verb):
    call = (verb, responses, "--metrics", "bleu", "--cite")
    text = dialogauge(*call, "--names", "bleu=BLEU").out
    assert "\n\nScores were computed with dialogauge" in text
    assert ": BLEU [papineni2002bleu; post2018call] (bleu|" in text
    assert text.count("\n@") == len(json.loads(dialogauge(*call, "--format", "json").out)["citations"]["bibtex"])
    refused = dialogauge(*call, "--format", "csv")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("--cite: CSV has")


def test_without_cite_nothing_is_cited(dialogauge, responses):
    assert "citations" not in json.loads(dialogauge("score", responses, "--metrics", "bleu", "--format", "json").out)


def test_compare_draws_its_differences_under_the_names_asked_for(dialogauge, responses, tmp_path):
    figure = tmp_path / "f.svg"
    done = dialogauge("compare", responses, "--metrics", "bleu", "--plot", figure, "--names", "a=Ours")
    assert done.code == 0
    assert "<!-- Ours − b -->" in figure.read_text()
    assert dialogauge("compare", responses, "--metrics", "bleu", "--plot", tmp_path / "f.doc").code == 2
