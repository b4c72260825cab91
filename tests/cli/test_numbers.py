"""Numbers that no one means, in every verb and option that takes one: a sentence and exit status 2."""

import argparse

import pytest

from dialogauge.cli.common.inputs import number, whole
from dialogauge.cli.main import build_parser

HUGE = ["999999999999999999999999999", "-1", "nan", "inf", "1e999", "x", "", "9" * 5000]


def numeric_options():
    """Every option of every verb that takes a number."""
    for words, parser in _leaves(build_parser(), ()):
        for action in parser._actions:
            if action.type in (whole, number):
                yield (*words, action.option_strings[0])


def _leaves(parser, words):
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield words, parser
    for action in below:
        for name, child in action.choices.items():
            yield from _leaves(child, (*words, name))


def call(words, files, folder):
    """The verb with all that it requires."""
    more = {
        "score": ["--metrics", "length"],
        "compare": ["--metrics", "length"],
        "correlate": ["--metrics", "length"],
        "sensitivity": ["--metrics", "length"],
        "perturb": ["--kind", "noise", "--ratio", "0.5", "--out", "-"],
        "synthesize": ["--out", folder / "pairs.jsonl"],
        "train": ["--out", folder / "model"],
        "reproduce": [],
    }
    paper = ["ruber-table3", "--corpora", folder, "--conversations", files, "--validation", files]
    first = {"synthesize": ["entailment", files], "reproduce": paper}
    return [*words, *first.get(words[0], [files]), *more.get(words[0], [])]


def test_no_option_reads_numbers_its_own_way():
    for words, parser in _leaves(build_parser(), ()):
        assert not [action.dest for action in parser._actions if action.type in (int, float)], words


@pytest.mark.parametrize("words", list(numeric_options()), ids="-".join)
def test_numbers_that_no_one_means(dialogauge, responses, tmp_path, words):
    *verb, option = words
    for value in HUGE:
        done = dialogauge(*call(verb, responses, tmp_path), f"{option}={value}")
        assert (done.code, done.out) == (2, ""), (option, value, done.err)
        assert "Traceback" not in done.err
        name = option.strip("-").removesuffix("-share").replace("-", "_")
        assert name.replace("validation", "share to validate") in done.err or option in done.err, (value, done.err)


def test_what_is_printed(dialogauge, responses):
    done = dialogauge("score", responses, "--metrics", "bleu", "--resamples", "999999999999")
    assert done.err == "resamples: expected a whole number from 1 to 1,000,000, found 999999999999\n"
    done = dialogauge("score", responses, "--metrics", "bleu", "--seed", "seven")
    assert "error: argument --seed: expected a whole number, found 'seven'" in done.err
