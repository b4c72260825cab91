"""Which turns are changed, and into what."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.corpus import Corpus, Turn, load
from dialogauge.errors import InputError
from dialogauge.studies.perturb import GENERIC, KINDS, perturb, references_as_system
from tests.corpus.test_round_trip import TURNS
from tests.shared import annotation

THOROUGH = settings(max_examples=60, deadline=None, derandomize=True)
RATIO = st.floats(0, 1)
SEED = st.integers(0, 2**32)


def one(response, context=(), **fields):
    return Corpus([Turn("0", response, context, **fields)])


def many(n, systems=("a",), response="s{system} says w{i} and {i}"):
    return Corpus(
        [
            Turn(str(i), response.format(system=system, i=i), (f"question {i}",), (f"reply {i}",), system)
            for i in range(n)
            for system in systems
        ]
    )


def changed(before, after):
    """The new response of every changed turn."""
    pairs = zip(before, after, strict=True)
    return {(new.id, new.system): new.response for old, new in pairs if new.response != old.response}


def text(corpus, kind, **options):
    """What becomes of the only turn."""
    return perturb(corpus, kind, 1, **options).turns[0].response


# Which turns


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("ratio", "expected"), [(0, 0), (0.04, 0), (0.05, 1), (0.3, 3), (0.449, 4), (0.75, 8), (1, 10)]
)
def test_the_share_is_rounded_to_the_nearest_count(kind, ratio, expected):
    corpus = many(10)
    # One turn alone has no other to exchange its response with.
    wanted = 0 if kind == "mismatch" and expected == 1 else expected
    assert len(changed(corpus, perturb(corpus, kind, ratio))) == wanted


def test_the_share_is_of_each_system():
    turns = [*many(10).turns, *many(4, ("b",)).turns]
    new = changed(Corpus(turns), perturb(Corpus(turns), "permute", 0.5))
    assert Counter(system for _, system in new) == {"a": 5, "b": 2}


@THOROUGH
@given(turns=TURNS, small=RATIO, large=RATIO, seed=SEED, kind=st.sampled_from(sorted(set(KINDS) - {"mismatch"})))
def test_ratios_are_nested(turns, small, large, seed, kind):
    corpus = Corpus(turns)
    few, all_of_them = (changed(corpus, perturb(corpus, kind, r, seed)) for r in sorted((small, large)))
    assert few.items() <= all_of_them.items()


@pytest.mark.parametrize("kind", KINDS)
def test_turns_changed_at_a_small_ratio_are_changed_at_larger_ones(kind):
    corpus = many(40, ("a", "b"))
    sizes, before = [], {}
    for ratio in (0, 0.1, 0.2, 0.5, 0.8, 1):
        new = changed(corpus, perturb(corpus, kind, ratio, seed=3))
        assert before.keys() <= new.keys()
        # Under mismatch the last of each system takes what the first gave up; the others take the same as before.
        differing = [key for key in before if before[key] != new[key]]
        assert len(differing) <= (2 if kind == "mismatch" else 0)
        sizes.append(len(new))
        before = new
    assert sizes == [0, 8, 16, 40, 64, 80]


@pytest.mark.parametrize("kind", KINDS)
def test_one_seed_one_result(kind):
    corpus = many(30)
    assert perturb(corpus, kind, 0.5, seed=7) == perturb(corpus, kind, 0.5, seed=7)
    other = changed(corpus, perturb(corpus, kind, 0.5, seed=8))
    assert other.keys() != changed(corpus, perturb(corpus, kind, 0.5, seed=7)).keys()


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_the_file_does_not_matter(kind):
    corpus = many(30, ("a", "b"))
    shuffled = Corpus(random.Random(1).sample(corpus.turns, len(corpus)))
    assert [turn.id for turn in perturb(shuffled, kind, 0.4)] == [turn.id for turn in shuffled]
    assert changed(corpus, perturb(corpus, kind, 0.4)) == changed(shuffled, perturb(shuffled, kind, 0.4))


@pytest.mark.parametrize("kind", KINDS)
def test_systems_that_share_contexts_share_choices(kind):
    corpus = many(30, ("a", "b"))
    new = changed(corpus, perturb(corpus, kind, 0.4))
    chosen = {system: {id_ for id_, of in new if of == system} for system in ("a", "b")}
    assert chosen["a"] == chosen["b"]
    assert len(chosen["a"]) == 12
    # A system's choices do not depend on whether the other is there.
    alone = corpus.select(["b"])
    assert {id_ for id_, _ in changed(alone, perturb(alone, kind, 0.4))} == chosen["b"]


def test_a_system_that_lacks_some_contexts_gets_the_same_choices_among_the_others():
    everything = many(40, ("a", "b"))
    corpus = Corpus([turn for turn in everything if turn.system == "a" or int(turn.id) % 4])
    new = changed(corpus, perturb(corpus, "truncate", 0.5))
    first, second = ({id_ for id_, of in new if of == system} for system in ("a", "b"))
    assert (len(first), len(second)) == (20, 15)
    # One order for both: of the ids that both have, one system's choices begin like the other's.
    shared = {id_ for id_ in first if int(id_) % 4}
    assert shared <= second or second <= shared


def test_equal_ids_with_different_contexts_are_different_turns():
    corpus = Corpus([Turn(str(i), "x y", (f"{system} {i}",), (), system) for system in "ab" for i in range(40)])
    new = changed(corpus, perturb(corpus, "truncate", 0.5))
    first, second = ({id_ for id_, of in new if of == system} for system in "ab")
    assert (len(first), len(second)) == (20, 20)
    assert first != second


def test_turns_that_repeat_id_and_context_are_counted_one_by_one():
    corpus = Corpus([Turn("x", f"a b {i}") for i in range(10)])
    assert sum(a != b for a, b in zip(corpus, perturb(corpus, "permute", 0.3), strict=True)) == 3


def test_all_kinds_choose_the_same_turns():
    corpus = many(30)
    assert len({frozenset(changed(corpus, perturb(corpus, kind, 0.4))) for kind in KINDS}) == 1


def test_nothing_in_nothing_out():
    assert perturb(Corpus([]), "noise", 1) == Corpus([])


# What is kept


@pytest.mark.parametrize("kind", KINDS)
def test_only_response_and_ratings_change(kind):
    full = {"facts": ("f",), "dialogue": "d", "extra": {"k": 1}, "ratings": {"overall": (4.0, None)}}
    corpus = Corpus([replace(turn, **full) for turn in many(10)], caveats=())
    after = perturb(corpus, kind, 0.5)
    for old, new in zip(corpus, after, strict=True):
        if old.response == new.response:
            assert new == old
        else:
            assert new == replace(old, response=new.response, ratings={})
    assert len(changed(corpus, after)) == 5


def test_the_given_corpus_is_left_as_it_is():
    corpus = many(10)
    before = list(corpus.turns)
    perturb(corpus, "noise", 1)
    assert corpus.turns == before


# Each kind


@pytest.mark.parametrize(
    ("length", "fewest", "most"), [(0, 1, 1), (1, 1, 1), (3, 1, 1), (4, 1, 2), (5, 2, 2), (8, 2, 4), (100, 25, 50)]
)
def test_noise_inserts_a_quarter_to_a_half(length, fewest, most):
    own = [f"w{i}" for i in range(length)]
    corpus = one(" ".join(own))
    counts = set()
    for seed in range(60):
        words = text(corpus, "noise", seed=seed, words=["new"]).split()
        assert [word for word in words if word != "new"] == own
        counts.add(words.count("new"))
    assert (min(counts), max(counts)) == (fewest, most) if length < 100 else fewest <= min(counts) < max(counts) <= most


def test_noise_goes_everywhere_and_keeps_the_spaces():
    corpus = one("  a\tb  c\nd ")
    seen = {text(corpus, "noise", seed=seed, words=["x"]) for seed in range(200)}
    alone = {"  x a\tb  c\nd ", "  a\tx b  c\nd ", "  a\tb  x c\nd ", "  a\tb  c\nx d ", "  a\tb  c\nd x "}
    assert alone <= seen  # with one word; with two there are more
    assert "  x a\tb  c\nd x " in seen
    assert len(seen) == 5 + 15  # 15 multisets of two places out of five


def test_noise_draws_from_the_words_of_all_responses():
    corpus = many(60, ("a", "b"))
    known = {word for turn in corpus for word in turn.response.split()}
    inserted = Counter()
    for old, new in zip(corpus, perturb(corpus, "noise", 1), strict=True):
        inserted += Counter(new.response.split()) - Counter(old.response.split())
    assert set(inserted) <= known
    assert len(inserted) > 50


def test_mismatch_gives_every_chosen_response_to_another_turn():
    corpus = many(30)
    after = perturb(corpus, "mismatch", 0.5)
    new = changed(corpus, after)
    assert len(new) == 15
    assert sorted(new.values()) == sorted(turn.response for turn in corpus if (turn.id, "a") in new)
    assert after.caveats == ()


def test_mismatch_of_two_is_an_exchange():
    corpus = Corpus([Turn("0", "a"), Turn("1", "b")])
    assert [turn.response for turn in perturb(corpus, "mismatch", 1)] == ["b", "a"]


def test_mismatch_stays_within_a_system():
    corpus = many(10, ("a", "b"))
    for turn in perturb(corpus, "mismatch", 1):
        assert turn.response.startswith(f"s{turn.system} says")


def test_mismatch_of_equal_texts_changes_nothing_and_says_so():
    corpus = Corpus([Turn(str(i), "same", ratings={"overall": (1.0,)}) for i in range(4)])
    after = perturb(corpus, "mismatch", 1)
    assert after.turns == corpus.turns
    assert after.caveats[0].message.startswith("mismatch: 4 of 4 chosen turns unchanged: ")


@pytest.mark.parametrize("seed", range(20))
def test_permute_never_gives_the_same_order(seed):
    assert text(one("a b"), "permute", seed=seed) == "b a"
    assert text(one(" a  b\n"), "permute", seed=seed) == " b  a\n"
    assert text(one("a a b"), "permute", seed=seed) in ("a b a", "b a a")
    words = [f"w{i}" for i in range(50)]
    shuffled = text(one(" ".join(words)), "permute", seed=seed).split()
    assert shuffled != words
    assert sorted(shuffled) == sorted(words)


def test_permute_reaches_every_other_order():
    seen = {text(one("a b c"), "permute", seed=seed) for seed in range(100)}
    assert seen == {"a c b", "b a c", "b c a", "c a b", "c b a"}


def test_repeat_says_a_generic_sentence():
    corpus = many(200)
    said = Counter(turn.response for turn in perturb(corpus, "repeat", 1))
    assert set(said) == set(GENERIC)
    assert min(said.values()) > 15  # 40 of each are to be expected
    assert text(one("hi"), "repeat", sentences=["well ."]) == "well ."


def test_repeat_says_another_where_the_response_is_generic():
    assert {text(one("b"), "repeat", seed=seed, sentences=["a", "b", "c"]) for seed in range(20)} == {"a", "c"}


@pytest.mark.parametrize(
    ("response", "expected"), [("a b", "a"), ("a b c", "a"), (" a  b\tc d ", " a  b"), ("a b c d e", "a b")]
)
def test_truncate_keeps_the_first_half(response, expected):
    assert text(one(response), "truncate") == expected


def test_parrot_says_the_last_utterance():
    assert text(one("fine", ("hi", "how are you ?")), "parrot") == "how are you ?"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("permute", {"好 👍🏽", "👍🏽 好"}),
        ("truncate", {"好"}),
        ("noise", {"é 好 👍🏽", "好 é 👍🏽", "好 👍🏽 é"}),
    ],
)
def test_any_script(kind, expected):
    corpus = one("好 👍🏽")
    seen = {text(corpus, kind, seed=seed, words=["é"]) for seed in range(30)}
    assert seen == expected - {"好 👍🏽"}


def test_long_responses():
    corpus = one(" ".join(f"w{i}" for i in range(10_000)))
    assert len(text(corpus, "truncate").split()) == 5_000
    assert 12_500 <= len(text(corpus, "noise").split()) <= 15_000


# What cannot be changed


@pytest.mark.parametrize(
    ("kind", "turn"),
    [
        ("permute", Turn("0", "")),
        ("permute", Turn("0", "word")),
        ("permute", Turn("0", "ha ha ha")),
        ("truncate", Turn("0", "")),
        ("truncate", Turn("0", " word ")),
        ("parrot", Turn("0", "a b")),
        ("parrot", Turn("0", "a b", ("hi", " "))),
        ("parrot", Turn("0", "hi", ("hi",))),
        ("mismatch", Turn("0", "a b")),
        ("noise", Turn("0", "")),
    ],
)
def test_what_cannot_be_changed_is_counted(kind, turn):
    turn = replace(turn, ratings={"overall": (3.0,)})
    after = perturb(Corpus([turn]), kind, 1)
    assert after.turns == [turn]
    (caveat,) = after.caveats
    assert caveat.code == "not_perturbed"
    assert caveat.message.startswith(f"{kind}: 1 of 1 chosen turn unchanged: ")


def test_repeat_with_a_single_sentence_that_is_said_already():
    after = perturb(one("well ."), "repeat", 1, sentences=["well ."])
    assert after.caveats[0].message.startswith("repeat: 1 of 1 chosen turn unchanged: ")


def test_what_was_not_chosen_is_not_counted():
    corpus = Corpus([Turn(str(i), "word") for i in range(10)])
    assert perturb(corpus, "permute", 0.3).caveats[0].message.startswith("permute: 3 of 3 chosen turns unchanged")
    assert perturb(corpus, "permute", 0).caveats == ()


def test_an_empty_response_can_take_words_sentences_and_utterances():
    assert text(one(""), "noise", words=["x"]) == "x"
    assert text(one(" "), "noise", words=["x"]) == "x"
    assert text(one(""), "repeat") in GENERIC
    assert text(one("", ("hi",)), "parrot") == "hi"


# References


def test_references_become_a_system():
    corpus = many(20, ("a", "b"))
    real = references_as_system(corpus)
    assert real.systems == ("reference",)
    expected = [Turn(str(i), f"reply {i}", (f"question {i}",), (f"reply {i}",), "reference") for i in range(20)]
    assert real.turns == expected
    assert perturb(corpus, "permute", 0.5, of="reference") == perturb(real, "permute", 0.5)


def test_references_come_from_the_first_system_that_has_one():
    turns = [
        Turn("1", "x", ("c",), (), "human", {"overall": (5.0,)}),
        Turn("1", "y", ("c",), ("r", "s"), "bot", {"overall": (1.0,)}, "d", ("f",), {"score": 0.1}),
        Turn("1", "z", ("c",), ("t",), "late"),
        Turn("2", "x", ("other",), (), "human"),
    ]
    real = references_as_system(Corpus(turns))
    assert real.turns == [Turn("1", "r", ("c",), ("r", "s"), "reference", dialogue="d", facts=("f",))]
    (caveat,) = real.caveats
    assert caveat.message == "1 of 2 contexts left out: no turn there has a reference"


def test_one_id_for_several_contexts_gets_several_names():
    turns = [
        Turn("1", "x", ("c",), ("r",), "a"),
        Turn("1", "x", ("d",), ("s",), "b"),
        Turn("1#2", "x", ("d",), ("t",), "b"),
        Turn("1", "x", ("e",), ("u",), "c"),
    ]
    named = {turn.id: turn.response for turn in references_as_system(Corpus(turns))}
    assert named == {"1": "r", "1#3": "s", "1#2": "t", "1#4": "u"}


def test_no_reference_at_all():
    with pytest.raises(InputError, match="expected turns with references, found none"):
        references_as_system(one("x"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_references_of_dailyz(kind):
    corpus = load(annotation("dailyz"))
    real = references_as_system(corpus)
    after = perturb(corpus, kind, 0.3, of="reference")
    assert len(after) == 100
    assert len(changed(real, after)) == 30
    assert all(turn.references == old.references for turn, old in zip(after, real, strict=True))


# Wrong calls


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("nose", 0.5), {}, "unknown perturbation 'nose'; did you mean noise"),
        (("noise", 1.01), {}, "ratio: expected a number from 0 to 1, found 1.01"),
        (("noise", -0.1), {}, "ratio: expected a number from 0 to 1, found -0.1"),
        (("noise", float("nan")), {}, "ratio: expected a number from 0 to 1, found nan"),
        (("noise", 0.5, -1), {}, "seed: expected a whole number from 0 to 9e+18, found -1"),
        (("noise", 0.5), {"of": "references"}, "unknown text to change 'references'; did you mean reference"),
        (("noise", 0.5), {"words": []}, "words: expected at least one text"),
        (("repeat", 0.5), {"sentences": ["a", " "]}, "sentences: expected at least one text and none that is blank"),
    ],
)
def test_wrong_calls(arguments, options, message):
    with pytest.raises(InputError) as caught:
        perturb(many(3), *arguments, **options)
    assert str(caught.value).startswith(message)
