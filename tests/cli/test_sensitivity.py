"""dialogauge sensitivity: what it prints is what Python gives, and wrong calls are refused before anything is read."""

import csv
import io
import json

import pytest

from dialogauge.corpus import load
from dialogauge.studies.sensitivity import sensitivity
from tests.test_docs import ROOT, examples, printed

QUICK = ("--resamples", 20)


def test_what_is_printed_is_what_python_gives(dialogauge, responses):
    call = ("--metrics", "rouge_l,length", "--kinds", "permute, noise", "--ratios", "0.2,1", "--seed", 4)
    done = dialogauge("sensitivity", responses, *call, "--systems", "b,a", *QUICK)
    expected = sensitivity(
        load(responses),
        "rouge_l,length",
        kinds=["permute", "noise"],
        ratios=[0, 0.2, 1],
        systems=["b", "a"],
        seed=4,
        resamples=20,
    )
    assert (done.code, done.out) == (0, expected.render("table") + "\n")
    assert done.err == "".join(f"warning: {caveat.message}\n" for caveat in expected.caveats)


def test_defaults_are_those_of_python(dialogauge, responses):
    done = dialogauge("sensitivity", responses, "--metrics", "length", "--format", "json")
    assert done.out == f"{sensitivity(load(responses), 'length').to_json()}\n"


def test_references_and_the_metrics_that_do_not_fall(dialogauge, responses):
    call = ("--metrics", "bleu,distinct", "--of", "references", "--kinds", "mismatch", *QUICK)
    done = dialogauge("sensitivity", responses, *call)
    assert done.err == "warning: distinct stays the same under mismatch, though responses get worse\n"
    rows = [line.split() for line in done.out.splitlines() if "mismatch  " in line]
    assert [(row[0], row[-1]) for row in rows] == [("bleu", "falls"), ("distinct", "constant")]
    assert float(rows[0][2]) == 100


def test_formats(dialogauge, responses):
    call = (
        "sensitivity",
        responses,
        "--metrics",
        "length",
        "--kinds",
        "noise",
        "--ratios",
        1,
        "--systems",
        "a",
        *QUICK,
    )
    rows = list(csv.DictReader(io.StringIO(dialogauge(*call, "--format", "csv").out)))
    assert [(row["kind"], row["ratio"], row["n"], row["changed"]) for row in rows] == [
        *(("noise", "0.0", "25", "0"), ("noise", "1.0", "25", "25"))
    ]
    document = json.loads(dialogauge(*call, "--format", "json").out)
    assert document["schema"] == "dialogauge.sensitivity/1"
    assert document["corpus"]["files"][0]["path"] == str(responses)
    assert dialogauge(*call, "--format", "markdown").out.startswith("| metric | kind | ratio 0 | 1 |")
    assert "\\toprule" in dialogauge(*call, "--format", "latex").out


def test_same_seed_same_bytes(dialogauge, responses):
    call = ("sensitivity", responses, "--metrics", "length", "--kinds", "noise", "--format", "json", *QUICK)
    first, again, other = (dialogauge(*call, "--seed", seed).out for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_plot(dialogauge, responses, tmp_path):
    call = ("sensitivity", responses, "--metrics", "length", "--kinds", "noise", "--ratios", 1, *QUICK)
    assert dialogauge(*call, "--plot", tmp_path / "new" / "f.svg").code == 0
    assert (tmp_path / "new" / "f.svg").read_bytes().startswith(b"<?xml")


def test_compat(dialogauge, responses):
    call = ("--metrics", "bleu", "--kinds", "noise", "--ratios", 1, "--compat", "fbd-paper", *QUICK)
    done = dialogauge("sensitivity", responses, *call)
    assert done.code == 0
    expected = sensitivity(load(responses), "bleu", kinds="noise", ratios=[1], compat="fbd-paper", resamples=20)
    assert done.out == expected.render("table") + "\n"
    assert (
        expected.points[0].signature
        != sensitivity(load(responses), "bleu", ratios=[1], resamples=2).points[0].signature
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--kinds", "noise,nosie"), "unknown perturbation 'nosie'; did you mean noise"),
        (("--kinds", ""), "no kind of perturbation named; known: noise, mismatch"),
        (("--ratios", "0.5,30"), "ratio: expected a number from 0 to 1, found 30.0"),
        (("--ratios", "-0.1"), "ratio: expected a number from 0 to 1, found -0.1"),
        (("--ratios", "nan"), "ratio: expected a number from 0 to 1, found nan"),
        (("--ratios", "0.5,much"), "--ratios: expected numbers between 0 and 1, found 'much'"),
        (("--ratios", "0"), "expected a ratio above 0, found none"),
        (("--seed", -1), "seed: expected a whole number from 0 to 9e+18, found -1"),
        (("--resamples", 0), "resamples: expected a whole number from 1 to 1,000,000, found 0"),
        (("--plot", "f.txt"), "f.txt: cannot draw into this kind of file"),
        (("--metrics", "blue"), "unknown metric 'blue'; did you mean bleu"),
        (("--of", "facts"), "usage: dialogauge sensitivity"),
        (("--dtype", "int8"), "usage: dialogauge sensitivity"),
    ],
)
def test_wrong_calls(dialogauge, arguments, message):
    # The file is not there: a wrong call is refused before anything is read.
    done = dialogauge("sensitivity", "nowhere.jsonl", "--metrics", "length", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(message)


def test_metrics_are_required(dialogauge, responses):
    done = dialogauge("sensitivity", responses)
    assert done.code == 2
    assert "--metrics" in done.err


def test_progress_is_shown_on_a_terminal_only(dialogauge, responses, monkeypatch):
    call = ("sensitivity", responses, "--metrics", "length", "--kinds", "noise", "--ratios", 1, *QUICK)
    assert dialogauge(*call).err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert "noise 1:" in dialogauge(*call).err


def test_help_has_examples(dialogauge):
    assert "dialogauge sensitivity responses.jsonl --metrics" in dialogauge("sensitivity", "--help").out


def test_the_page_shows_what_comes_out():
    shown = examples(ROOT / "docs" / "perturbations.md")
    assert [example["command"].split()[1] for example in shown] == ["sensitivity"]
    for example in shown:
        assert example["output"].rstrip("\n") == printed(example["command"]).rstrip("\n")
