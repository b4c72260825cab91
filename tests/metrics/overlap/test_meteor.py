"""METEOR and its synonyms."""

import gzip
import hashlib
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.corpus import Turn
from dialogauge.errors import InputError
from dialogauge.metrics.overlap.meteor import FILE, TABLE, Meteor, align, meteor, meteor_tokens, synonyms
from dialogauge.metrics.registry import parse_request

WORDS = st.lists(
    st.sampled_from("the a cat cats runs ran auto car machine happy . ? 你好 😀 it's".split()), max_size=12
)


def test_values_derived_by_hand():
    # Two matches in one chunk: P = 1, R = 2/3, mean = (2/3) / (0.9 + 0.1 * 2/3) = 20/29, penalty 0.5 * (1/2)^3.
    assert meteor("the cat", ["the cat sat"]) == pytest.approx((1 - 0.0625) * 20 / 29)
    # "cats" and "cat", "run" and "runs" share their stems: P = R = 1, one chunk of two.
    assert meteor("cats run", ["cat runs"]) == pytest.approx(1 - 0.0625)
    # One synonym, one chunk of one: 1 - 0.5.
    assert meteor("car", ["auto"]) == 0.5
    # Matches 0-0 and 2-1 are adjacent in the reference only: two chunks, P = 2/3, R = 1,
    # mean = (2/3) / (0.9 * 2/3 + 0.1) = 20/21, penalty 0.5 * (2/2)^3.
    assert meteor("see red you", ["see you"]) == pytest.approx(0.5 * 20 / 21)


def test_the_parameters():
    # As above, P = 1 and R = 2/3 in one chunk of two.
    assert meteor("the cat", ["the cat sat"], gamma=0.0) == pytest.approx(20 / 29)
    assert meteor("the cat", ["the cat sat"], alpha=1.0, gamma=0.0) == pytest.approx(2 / 3)
    assert meteor("the cat", ["the cat sat"], beta=1.0) == pytest.approx(0.75 * 20 / 29)


def test_the_last_free_word_is_taken():
    # Read from the end, "the" at 4 takes the reference's last "the", also 4: six chunks of one word. Pairing it
    # with 0 would leave three (on the mat, sat, the cat); NLTK does not look for that.
    pairs = align("on the mat sat the cat".split(), "the cat sat on the mat".split())
    assert pairs == [(0, 3), (1, 0), (2, 5), (3, 2), (4, 4), (5, 1)]


def test_equal_words_come_before_equal_stems_and_these_before_synonyms():
    # "cars" takes its equal, the second word. "car" has the stem of the first. "auto" is left for "motorcar".
    assert align(["car", "cars", "auto"], ["cars", "cars", "motorcar"]) == [(0, 0), (1, 1), (2, 2)]


def test_synonyms_are_looked_up_by_stem():
    # WordNet has glad and happy in one synset, but the reference's stem is "happi".
    assert align(["glad"], ["happy"]) == []


def test_the_best_reference_counts():
    near, far = "see you at the station", "completely different words"
    assert meteor(near, [far, near]) == meteor(near, [near]) == pytest.approx(1 - 0.5 / 5**3)
    assert meteor(near, [far]) == 0


@pytest.mark.parametrize(
    ("response", "reference"), [("", "hello"), ("hello", ""), ("", ""), (" \n", "hello"), ("😀", "你好"), ("yes", "no")]
)
def test_nothing_in_common_is_zero(response, reference):
    assert meteor(response, [reference]) == 0


@pytest.mark.parametrize("word", ["hello", "😀", "你好", "?", "n't"])
def test_one_word_against_itself(word):
    assert meteor(word, [word]) == 0.5


def test_no_reference_is_an_error():
    with pytest.raises(ValueError, match="empty"):
        meteor("hello", [])


def test_ten_thousand_words_against_themselves():
    text = " ".join(f"w{i % 97}" for i in range(10_000))
    assert meteor(text, [text]) == 1 - 0.5 * (1 / 10_000) ** 3


def test_ten_thousand_words_with_nothing_in_common():
    left, right = ([f"{side}{i}" for i in range(10_000)] for side in "ab")
    # Comparing every pair of words would take minutes.
    assert meteor_tokens(left, [right]) == 0


@settings(max_examples=200, deadline=None, derandomize=True)
@given(WORDS, st.lists(WORDS, min_size=1, max_size=3), WORDS)
def test_properties(hypothesis, references, another):
    score = meteor_tokens(hypothesis, references)
    assert 0 <= score < 1
    assert score == meteor_tokens([word.upper() for word in hypothesis], references[::-1])
    assert score <= meteor_tokens(hypothesis, [*references, another])
    itself = meteor_tokens(hypothesis, [*references, hypothesis])
    assert itself == (1 - 0.5 * (1 / len(hypothesis)) ** 3 if hypothesis else 0)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(WORDS, WORDS)
def test_each_word_is_paired_once(hypothesis, reference):
    pairs = align(hypothesis, reference)
    assert pairs == sorted(pairs)
    for side, texts in enumerate((hypothesis, reference)):
        places = [pair[side] for pair in pairs]
        assert len(set(places)) == len(places)
        assert set(places) <= set(range(len(texts)))


def test_the_metric_is_the_mean_of_its_turns():
    turns = [
        Turn("1", "the cat", references=("the cat sat",)),
        Turn("2", "car", references=("bus", "auto")),
        Turn("3", "", references=("hello",)),
    ]
    metric = Meteor()
    rows = metric.measure(turns)
    assert rows.shape == (3, 1)
    np.testing.assert_allclose(metric.per_turn(rows), [0.9375 * 20 / 29, 0.5, 0])
    assert metric.conclude(metric.summarise(rows))[""] == pytest.approx((0.9375 * 20 / 29 + 0.5) / 3)
    assert metric.measure([]).shape == (0, 1)


def test_the_signature_names_words_stemmer_table_and_parameters():
    signature = Meteor(beta=2.0).signature
    assert signature.startswith("meteor|")
    for part in (f"syn:{TABLE}", "stem:porter-nltk", "words:nltk-punkt", "alpha:0.9", "beta:2.0", "gamma:0.5"):
        assert part in signature.split("|")


@pytest.mark.parametrize("options", ["alpha=nan", "beta=inf"])
def test_options_that_are_no_numbers(options):
    with pytest.raises(InputError, match=f"option {options.split('=')[0]} of meteor: expected a number"):
        parse_request(f"meteor[{options}]")


@pytest.mark.parametrize("options", ["alpha=-1", "beta=-1", "gamma=5", "gamma=-0.1"])
def test_options_that_make_no_sense(options):
    with pytest.raises(InputError, match="expected alpha and gamma from 0 to 1 and beta from 0 on"):
        parse_request(f"meteor[{options}]")


DATA = files("dialogauge.metrics").joinpath("data")
SCRIPT = Path(__file__).parents[3] / "scripts" / "build_synonyms.py"


def test_signatures_name_the_table_that_is_there():
    assert f"wordnet-3.0@{hashlib.sha256(DATA.joinpath(FILE).read_bytes()).hexdigest()[:8]}" == TABLE


def test_the_licence_comes_along():
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in DATA.joinpath("WORDNET-LICENSE").read_text("ascii")


def test_names_of_all_senses():
    # WordNet 3.0 has one synset for "automobile" as a noun (car, auto, automobile, machine, motorcar) and one
    # as a verb (automobile alone).
    assert synonyms("automobile") == {"car", "auto", "automobile", "machine", "motorcar"}


@pytest.mark.parametrize(
    ("word", "base"),
    [
        ("mice", "mouse"),
        ("wolves", "wolf"),
        ("firemen", "fireman"),
        ("carries", "carry"),
        ("went", "go"),
        ("finer", "fine"),
    ],
)
def test_base_forms_are_found(word, base):
    assert base in synonyms(word)


def test_an_exception_replaces_the_suffix_rules():
    # "bases" is listed as the plural of "base" and "basis"; the rule "ses -> s" would add "bas", "ba", barium.
    assert {"base", "basis"} <= synonyms("bases")
    assert "barium" in synonyms("bas")
    assert "barium" not in synonyms("bases")


def test_names_with_capitals_or_of_several_words_are_left_out():
    # The names are Paris, City_of_Light, French_capital and capital_of_France, and names of people and a genus.
    assert synonyms("paris") == set()


@pytest.mark.parametrize("word", ["", ".", "happi", "😀", "你好", "zzzz", "\n"])
def test_unknown_words_have_none(word):
    assert synonyms(word) == set()


def write_wordnet(folder):
    licence = "  1 This software and database is being provided to you  \n"
    for part in ("noun", "verb", "adj", "adv"):
        for name in (f"index.{part}", f"data.{part}"):
            (folder / name).write_text(licence)
        (folder / f"{part}.exc").write_text("")
    with (folder / "data.noun").open("a") as file:
        file.write("00000010 03 n 03 dog 0 domestic_dog 0 Canis 1 001 @ 00000020 n 0000 | a pet (of course)  \n")
        file.write("00000020 03 n 01 Rex 0 000 | a name  \n")
    with (folder / "index.noun").open("a") as file:
        file.write("dog n 1 1 @ 1 1 00000010  \n")
        file.write("domestic_dog n 1 1 @ 1 0 00000010  \n")
        file.write("rex n 1 0 1 0 00000020  \n")
    (folder / "noun.exc").write_text("dogz dog\n")
    with (folder / "data.adj").open("a") as file:
        file.write("00000030 00 s 02 galore(ip) 0 abounding 0 000 | in number  \n")
    with (folder / "index.adj").open("a") as file:
        file.write("galore a 1 0 1 0 00000030  \n")


def build(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)


def test_the_table_is_built_from_wordnet_files(tmp_path):
    write_wordnet(tmp_path)
    for name in ("one", "two"):
        assert build(tmp_path, "--out", tmp_path / name).returncode == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    _, *blocks = gzip.decompress((tmp_path / "one").read_bytes()).decode().split("\n\n")
    assert blocks == [
        "dog\tdog\ndomestic_dog\tdog",
        "dogz\tdog",
        "",
        "",
        "galore\tabounding galore",
        "",
        "",
        "",
    ]


def test_a_folder_without_wordnet_is_refused(tmp_path):
    done = build(tmp_path)
    assert done.returncode == 2
    assert "data.noun" in done.stderr
