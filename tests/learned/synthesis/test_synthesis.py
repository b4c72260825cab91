"""What pairs are made of, where they come from, and in which shares."""

from collections import Counter
from dataclasses import replace

import pytest

from dialogauge.corpus import Turn, stream
from dialogauge.corpus.inference import LABELS, SPLITS, InferencePair
from dialogauge.errors import InputError
from dialogauge.learned.ruber.pairs import bare
from dialogauge.learned.synthesis import Options
from dialogauge.learned.synthesis.dialogues import gather, split_of
from dialogauge.learned.synthesis.sources import Style, jump, read_generic
from dialogauge.learned.synthesis.synthesis import Counter as Rounded
from dialogauge.learned.synthesis.synthesis import Mixer
from tests.learned.synthesis.synthesis_dialogues import ALL, of, owner, pairs, said, synthesis, turns
from tests.shared import shared

PAPER = {"entailment": 0.206, "neutral": 0.547, "contradiction": 0.247}
THREE = Options(splits=(2, 1, 1))


@pytest.mark.slow
def test_shares_of_the_paper_in_every_split_of_convai2():
    path = shared("training/convai2/valid_both_original_no_cands.txt.gz")
    counts = Counter((pair.split, pair.label) for pair in pairs(stream(path).turns(), Options()))
    for split in ("train", "validation", "test"):
        total = sum(counts[split, label] for label in LABELS)
        assert total > 3000
        for label in LABELS:
            assert counts[split, label] / total == pytest.approx(PAPER[label], abs=0.003)


def test_short_dialogues_keep_the_shares():
    # One turn each: a draw for each turn would miss by more.
    counts = Counter(pair.label for pair in pairs(turns(700, 2), replace(ALL, neutral=2.656, contradiction=1.2003)))
    assert counts == {"entailment": 700, "neutral": 1859, "contradiction": 840}  # 1859.2, 840.21


def test_entailment_is_the_next_utterance_after_the_last_two():
    given = list(turns(4))
    found = of(pairs(given), "next")
    assert [(pair.premise, pair.hypothesis, pair.label) for pair in found] == [
        (turn.context[-2:], turn.response, "entailment") for turn in given
    ]
    assert [pair.dialogue for pair in found] == [turn.dialogue for turn in given]


def test_every_pair_of_a_turn_has_its_premise():
    found = pairs(turns(5))
    assert {pair.premise for pair in found} == {pair.premise for pair in of(found, "next")}


def test_lengths_of_history():
    found = of(pairs(turns(2, 5), replace(ALL, history=(3, 1))), "next")
    # Before place 1 there is one utterance: both lengths would give the same.
    assert Counter(len(pair.premise) for pair in found) == {1: 8, 2: 2, 3: 4}


def test_random_comes_from_another_dialogue_of_the_split():
    found = of(pairs(turns(60, 6), THREE), "random")
    split_of = {pair.dialogue: pair.split for pair in found}
    assert set(split_of.values()) == {"train", "validation", "test"}
    for pair in found:
        other = owner(pair.hypothesis)
        assert other != pair.dialogue
        assert split_of[other] == pair.split


@pytest.mark.parametrize("named", [True, False])
def test_every_utterance_of_a_pair_is_of_its_split(named):
    """Turns that do not name their dialogue go together by what was said before."""
    given = [turn if named else replace(turn, dialogue=None) for turn in turns(60, 6)]
    found = [pair for pair in pairs(given, THREE) if pair.source != "generic"]
    splits = {}
    for pair in found:
        for word in " ".join([*pair.premise, pair.hypothesis]).split():
            splits.setdefault(word.partition("u")[0], set()).add(pair.split)
    assert len(splits) == 60
    assert all(len(each) == 1 for each in splits.values())


def test_random_is_never_the_true_response():
    same = [["hi", "Well, YES!"], ["hello", "well yes"], ["hey", "well , yes"], ["oh", "no"]]
    found = of(pairs(said(*same), replace(ALL, generic=0, neutral=3)), "random")
    assert len(found) > 8
    for pair in found:
        assert bare(pair.hypothesis) != bare(same[int(pair.dialogue)][1])


def test_hypotheses_of_a_turn_differ():
    found = pairs(turns(3, 4), replace(ALL, neutral=9, generic=0.3))
    seen = Counter((pair.premise, pair.hypothesis) for pair in found)
    assert set(seen.values()) == {1}


def test_what_cannot_be_made_is_counted():
    given = synthesis(said(["a b", "c d"], ["e f", "g h"]), replace(ALL, neutral=9, generic=0), generic=["Ok.", "Yes."])
    found = list(given)
    # For each of two turns, the two utterances of the other dialogue; generic replies have no share.
    assert len(of(found, "random")) == 4
    assert [caveat.message for caveat in given.caveats] == [
        "14 pairs not made: all there was to draw was the true response or there already"
    ]


def test_generic_replies_are_of_the_list_in_the_spelling_of_the_dialogue():
    replies = read_generic()
    assert 40 <= len(replies) <= 80
    found = of(pairs(turns(20)), "generic")
    assert {pair.hypothesis for pair in found} <= {reply.lower() for reply in replies}
    assert len({pair.hypothesis for pair in found}) > 10
    assert {pair.label for pair in found} == {"neutral"}
    given = said(["Hi there", "Hello you"], ["How nice", "Is it"])
    assert {pair.hypothesis for pair in of(pairs(given, replace(ALL, generic=1)), "generic")} <= set(replies)


def test_style():
    assert Style.from_replies(["hi , you .", "ok"]).dress("Oh, no.") == "oh , no ."
    assert Style.from_replies(["Hi, you.", "ok ."]).dress("Oh, no.") == "Oh, no."
    assert Style.from_replies(["hi, you."]).dress("I don't know.") == "i don't know."


def test_a_list_of_replies_of_ones_own(tmp_path):
    path = tmp_path / "replies.txt"
    path.write_text("Aha.\n\n Quite so. \nAha.\n")
    assert read_generic(path) == ["Aha.", "Quite so."]
    path.write_text("Aha.\naha\n")
    with pytest.raises(InputError, match="expected at least two different replies"):
        read_generic(path)


def test_salad_is_made_of_words_of_its_dialogue():
    found = of(pairs(turns(30)), "salad")
    assert len(found) > 100
    for pair in found:
        assert owner(pair.hypothesis) == pair.dialogue
        assert pair.label == "contradiction"


@pytest.mark.parametrize("source", range(3))
def test_salad_words_come_from_where_they_should(source):
    weights = tuple(float(place == source) for place in range(3))
    given = list(turns(10))
    true = {(pair.dialogue, pair.premise): pair.hypothesis for pair in of(pairs(given), "next")}
    found = of(pairs(given, replace(ALL, salad_words=weights)), "salad")
    elsewhere = 0
    for pair in found:
        words, response = set(pair.hypothesis.split()), set(true[pair.dialogue, pair.premise].split())
        premise = set(" ".join(pair.premise).split())
        elsewhere += bool(words - response - premise)
        assert owner(pair.hypothesis) == pair.dialogue
        assert source == 2 or words <= (response, premise)[source]
    # Five to seven of eight utterances are neither response nor premise.
    assert elsewhere == 0 if source < 2 else elsewhere > 0.9 * len(found)


def test_salad_has_about_the_length_of_the_response():
    given = list(turns(20, words=8))
    true = {(pair.dialogue, pair.premise): len(pair.hypothesis.split()) for pair in of(pairs(given), "next")}
    exact = of(pairs(given, replace(ALL, salad_length=0)), "salad")
    assert all(len(pair.hypothesis.split()) == true[pair.dialogue, pair.premise] for pair in exact)
    ratios = [len(p.hypothesis.split()) / true[p.dialogue, p.premise] for p in of(pairs(given), "salad")]
    assert min(ratios) < 0.9
    assert max(ratios) > 1.1
    assert all(0.7 < ratio < 1.3 for ratio in ratios)


def test_salad_is_never_the_response():
    given = list(said(["a b", "b a"], ["c", "c"], ["ok", "ok ok"]))
    found = of(pairs(given, replace(ALL, contradiction=6, generic=1)), "salad")
    true = {turn.dialogue: turn.response for turn in given}
    assert len(found) == 18
    assert all(bare(pair.hypothesis) != bare(true[pair.dialogue]) for pair in found)
    assert all(len(pair.hypothesis.split()) >= 2 for pair in found)


# Splits


def test_the_same_dialogue_under_another_name_is_taken_once():
    given = synthesis([*said(["A b.", "c"], ["d", "e"]), Turn("9:1", "c", ("a b",), dialogue="other")])
    assert len(of(list(given), "next")) == 2
    assert [caveat.code for caveat in given.dialogues.caveats] == ["repeated_dialogues"]


def test_the_split_depends_on_text_and_seed_not_on_names_or_company():
    def split_by_text(given, **options):
        return {pair.premise: pair.split for pair in of(pairs(given, replace(THREE, **options)), "next")}

    found = split_by_text(turns(200, 2))
    renamed = [replace(turn, dialogue=f"x{turn.dialogue}", id=f"x{turn.id}") for turn in turns(300, 2)]
    longer = split_by_text(reversed(renamed))
    assert all(longer[premise] == split for premise, split in found.items())
    assert split_by_text(turns(200, 2), seed=1) != found


def test_shares_of_the_splits():
    found = of(pairs(turns(2000, 2), replace(THREE, splits=(2, 1, 1), neutral=0, contradiction=0)), "next")
    counts = Counter(pair.split for pair in found)
    assert counts["train"] == pytest.approx(1000, abs=70)  # three standard deviations
    assert counts["test"] == pytest.approx(500, abs=60)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dialogues", [6, 20, 60])
def test_every_split_of_a_small_corpus_has_pairs(dialogues, seed):
    """By hashes alone, most of these corpora have a split of one dialogue or none."""
    made = synthesis(turns(dialogues), Options(seed=seed))
    found = list(made)
    owners = {split: {pair.dialogue for pair in found if pair.split == split} for split in SPLITS}
    assert all(len(names) >= 2 for names in owners.values())
    assert sum(map(len, owners.values())) == dialogues


def test_dialogues_that_are_moved_to_fill_a_split_are_counted():
    shares = Options().split_shares
    few, many = (gather(turns(number), 0, shares) for number in (6, 500))
    hashes = Counter(split_of(0, "\0".join(map(bare, each.utterances())), shares) for each in few.listed)
    moved = sum(max(0, 2 - hashes[split]) for split in ("validation", "test"))
    assert moved
    assert few.caveats[0].code == "small_splits"
    assert few.caveats[0].message.startswith(f"{moved} dialogue")
    assert not many.caveats


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (turns(1), ALL, "would have 1 of 1 dialogue to make pairs from, expected at least 2: .*--generic-share 1"),
        (turns(5), Options(), "would have 0 of 5 dialogues .*--splits 1,0,0, or another --seed"),
        ([], ALL, "expected conversations, found none"),
        (said([" ", "a"], ["", "b"]), ALL, "the split train would have 0 of 2 dialogues"),
        (turns(200, 2), Options(pairs=30), "pairs: 30 are too few to have some in the split"),
    ],
)
def test_too_little_is_refused(given, options, message):
    with pytest.raises(InputError, match=message):
        synthesis(given, options)


def test_blank_utterances_before_a_response_are_no_hindrance_where_history_goes_further_back():
    given = list(said(["a", " ", "b"], ["c", "", "d"]))
    assert [(pair.premise, pair.hypothesis) for pair in of(pairs(given), "next")] == [(("a",), "b"), (("c",), "d")]
    with pytest.raises(InputError, match="would have 0 of 2 dialogues"):
        synthesis(given, replace(ALL, history=(1,)))


def test_one_dialogue_is_enough_where_nothing_is_drawn_from_others():
    assert Counter(pair.source for pair in pairs(turns(1), replace(ALL, generic=1)))["generic"] == 19  # 7 * 2.656


# Randomness


def test_same_seed_same_pairs():
    given = list(turns(40))
    assert pairs(given) == pairs(given)
    other = pairs(given, replace(ALL, seed=1))
    assert of(other, "next") == of(pairs(given), "next")
    assert of(other, "salad") != of(pairs(given), "salad")
    assert of(other, "random") != of(pairs(given), "random")


def test_a_dialogue_more_at_the_end_leaves_nearly_all_pairs_as_they_were():
    shorter, longer = pairs(turns(100)), pairs(turns(101))
    kept = [one == other for one, other in zip(shorter, longer, strict=False)]
    assert sum(kept) / len(kept) > 0.98
    changed = [pair for pair, same in zip(longer, kept, strict=False) if not same]
    assert changed
    assert {pair.source for pair in changed} == {"random"}


def test_jump_is_uniform_and_consistent():
    keys = [key * 0x9E3779B97F4A7C15 % 2**64 for key in range(20000)]
    ten = Counter(jump(key, 10) for key in keys)
    assert set(ten) == set(range(10))
    assert all(abs(number - 2000) < 150 for number in ten.values())  # 3.5 standard deviations
    assert all(jump(key, 11) in (jump(key, 10), 10) for key in keys[:2000])


def test_rounded_counts_carry_on():
    counter = Rounded(0.3)
    assert [counter.next() for _ in range(10)] == [0, 1, 0, 0, 1, 0, 0, 0, 1, 0]
    assert sum(Rounded(2.656).next() for _ in range(1)) == 3


def test_a_source_that_was_left_out_is_made_up_for():
    mixer = Mixer({"rare": 0.25}, "rest")
    taken = []
    for place in range(12):
        source = next(each for each in mixer.order() if each == "rest" or place >= 6)
        mixer.took(source)
        taken.append(source)
    assert taken.count("rare") == 3
    assert taken.index("rare") == 6


# The number of pairs


def test_so_many_pairs_and_no_more():
    given = list(turns(100))
    few, more = (pairs(given, replace(THREE, pairs=number)) for number in (800, 1600))
    assert (len(few), len(more)) == (800, 1600)
    premises = [{(pair.dialogue, pair.premise) for pair in of(found, "next")} for found in (few, more)]
    # All but the last turn, which may be cut off.
    assert len(premises[0] - premises[1]) <= 1
    assert len({pair.dialogue for pair in few}) > 60
    assert len({pair.split for pair in few}) == 3
    shares = Counter(pair.label for pair in more)
    assert shares["neutral"] / 1600 == pytest.approx(0.547, abs=0.01)


def test_the_choice_favours_no_length_of_history():
    found = of(pairs(turns(100), replace(ALL, history=(1, 2, 3), pairs=3000)), "next")
    counts = Counter(len(pair.premise) for pair in found)
    assert counts[1] > counts[2] > counts[3] > 100  # 700, 600 and 500 of 1800


def test_more_pairs_than_can_be_made():
    given = synthesis(turns(10), replace(ALL, pairs=9999))
    made = len(list(given))
    assert made == 340  # 70 + 185.9 + 84.0
    assert [caveat.message.partition(":")[0] for caveat in given.caveats] == ["340 pairs made, 9999 asked for"]
    assert given.expected == 340


# Facts, and pairs from files


FACTS = ("i have a dog .", "i am old .")
AGAINST = [
    InferencePair(("I have a dog.",), "i have no pets .", "contradiction"),
    InferencePair(("i own nothing .",), "i have a dog .", "contradiction"),
    InferencePair(("i hate fish .",), "i love fish .", "contradiction"),
]
NLI = [InferencePair((f"p {number // 3}",), f"h {number}", "contradiction") for number in range(90)]


def test_facts_stand_before_the_history_half_of_the_time():
    found = of(pairs(turns(60, facts=FACTS)), "next")
    shown = [pair.premise[:2] == FACTS for pair in found]
    assert sum(shown) / len(shown) == pytest.approx(0.5, abs=0.08)
    assert all(len(pair.premise) <= 4 for pair in found)
    for share in (0, 1):
        found = pairs(turns(3, facts=FACTS), replace(ALL, with_facts=share))
        assert {pair.premise[:2] == FACTS for pair in found} == {bool(share)}


def test_contradictions_of_facts_follow_the_facts():
    found = of(pairs(turns(20, facts=FACTS), dialogue_nli=AGAINST), "facts")
    assert {pair.hypothesis for pair in found} == {"i have no pets .", "i own nothing ."}
    assert all(pair.premise[:2] == FACTS and pair.label == "contradiction" for pair in found)
    assert not of(pairs(turns(20), dialogue_nli=AGAINST), "facts")


def test_a_fact_is_contradicted_in_one_split_alone():
    found = of(pairs(turns(60, facts=FACTS), replace(THREE, facts=0.5), dialogue_nli=AGAINST[:1]), "facts")
    assert len({pair.split for pair in found}) == 1


def test_nli_pairs_stand_as_in_the_file_and_come_once():
    found = of(pairs(turns(40), replace(ALL, nli=1, facts=0), nli=NLI), "nli")
    assert Counter((pair.premise, pair.hypothesis) for pair in found) == Counter(
        (pair.premise, pair.hypothesis) for pair in NLI
    )
    assert {pair.label for pair in found} == {"contradiction"}
    assert {pair.dialogue for pair in found} == {None}


def test_the_same_nli_premise_is_in_one_split():
    found = of(pairs(turns(60), replace(THREE, nli=1, facts=0, splits=(1, 1, 1)), nli=NLI), "nli")
    splits = {}
    for pair in found:
        splits.setdefault(pair.premise, set()).add(pair.split)
    assert all(len(each) == 1 for each in splits.values())
    assert len(set().union(*splits.values())) == 3


def test_too_few_nli_pairs_are_spread_and_told():
    given = synthesis(turns(40), replace(ALL, nli=1, facts=0), nli=NLI)
    found = list(given)
    places = [place for place, pair in enumerate(found) if pair.source == "nli"]
    assert len(places) == 90
    assert places[0] < 0.05 * len(found)
    assert places[-1] > 0.95 * len(found)
    assert [caveat.message for caveat in given.caveats] == [
        "nli: 90 of 336 pairs of contradiction; 100% were asked for and could not be made, salad takes their place"
    ]


def test_enough_nli_pairs_give_their_share():
    found = Counter(pair.source for pair in pairs(turns(20), replace(ALL, nli=0.25), nli=NLI))
    assert found["nli"] / (found["nli"] + found["salad"]) == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"history": ()}, "history: expected numbers of utterances, found none"),
        ({"history": (0,)}, "history: expected a whole number from 1 to 1,000,000, found 0"),
        ({"neutral": -1}, "neutral: expected a number from 0 to 1,000, found -1"),
        ({"contradiction": float("nan")}, "contradiction: expected a number from 0 to 1,000, found nan"),
        ({"generic": 1.5}, "generic: expected a number from 0 to 1, found 1.5"),
        ({"with_facts": -0.1}, "with_facts: expected a number from 0 to 1"),
        (
            {"splits": (1, 0)},
            "splits: expected three shares of train, validation and test from 0 to 1,000,000, not all 0, found 1,0",
        ),
        ({"splits": (0, 0, 0)}, "splits: expected three shares"),
        ({"salad_words": (1, -1, 1)}, "salad_words: expected three weights"),
        ({"salad_length": 2}, "salad_length: expected a number from 0 to 1"),
        ({"pairs": 0}, "pairs: expected a whole number from 1 to 1,000,000,000, found 0"),
        ({"seed": -1}, "seed: expected a whole number from 0 to 9e+18, found -1"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(InputError) as caught:
        Options(**options)
    assert str(caught.value).startswith(message)


def test_shares_of_files_count_where_there_are_files():
    options = Options(nli=0.5, facts=0.4, negation=0.3)
    assert options.contradiction_shares(nli=True, facts=False) == {"nli": 0.5, "facts": 0, "negation": 0.3}
    with pytest.raises(InputError, match="expected shares of at most 1 together, found nli 0.5, facts 0.4, negation"):
        options.contradiction_shares(nli=True, facts=True)


def test_shares_are_the_same_on_every_python():
    # Added one after the other, as `sum` does before Python 3.12, they make .6000000000000001.
    assert Options(splits=(0.1, 0.2, 0.3)).split_shares["test"] == 0.5
