import pytest

from dialogauge.metrics.fbd_paper.overlap import LONGEST, synonyms
from dialogauge.metrics.overlap import meteor as plain


def test_rules_are_applied_until_something_is_found():
    # princessess > princesses > princess
    assert synonyms("princessess") == plain.synonyms("princess")
    assert plain.synonyms("princessess") == frozenset()


@pytest.mark.parametrize("word", ["dogs", "went", "happier", "axes", "nothing-such", "", "é", "😀"])
def test_one_round_is_enough_for_most(word):
    assert synonyms(word) == plain.synonyms(word)


def test_an_exceptional_inflection_ends_the_search():
    # "bases" is listed as the plural of base and of basis; no rule is applied to it.
    assert "fundament" in synonyms("bases")
    assert synonyms("bases") == plain.synonyms("bases")


def test_exceptional_inflections_are_looked_up_for_the_word_alone():
    # feets > feet, which is no lemma of WordNet; that it is the plural of foot is not asked any more.
    assert "foot" in synonyms("feet")
    assert synonyms("feets") == frozenset()


def test_names_in_capitals_end_the_search():
    # moses > mos > mo, were it not for Moses.
    assert "moment" in synonyms("mos")
    assert "moment" not in synonyms("moses")


def test_words_beyond_reason_have_none():
    assert synonyms("dog".ljust(LONGEST, "s")) == synonyms("dog")
    assert synonyms("dog".ljust(LONGEST + 1, "s")) == frozenset()
