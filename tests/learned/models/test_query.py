import pytest

from dialogauge.learned.ruber.inputs import KINDS
from dialogauge.learned.ruber.model import Query, query_of


@pytest.mark.parametrize(
    ("context", "utterances", "expected"),
    [
        (["a", "b", "c"], 1, "c"),
        (["a", "b", "c"], 2, "b c"),
        (["a", "b", "c"], 9, "a b c"),
        ([" a ", "b\n"], 2, "a  b"),
        (["a"], 2, "a"),
        ([" "], 1, ""),
        ([], 2, ""),
    ],
)
def test_the_last_utterances_joined_for_rubers_network(context, utterances, expected):
    assert query_of(context, utterances, "ruber") == Query(expected, "")


@pytest.mark.parametrize(
    ("context", "utterances", "expected"),
    [
        (["a", "b", "c"], 1, Query("c", "")),
        (["a", "b", "c"], 2, Query("c", "b")),
        ([" b ", "\tc "], 2, Query("c", "b")),
        (["c"], 2, Query("c", "")),
        (["c"], 1, Query("c", "")),
        (["b", " "], 2, Query("", "b")),
        ([" ", "c"], 2, Query("c", "")),
        ([], 2, Query("", "")),
    ],
)
def test_the_last_two_utterances_apart_for_towers(context, utterances, expected):
    assert query_of(context, utterances, "towers") == expected


@pytest.mark.parametrize("network", KINDS)
def test_any_sequence_will_do(network):
    assert query_of(("a", "b"), 2, network) == query_of(["a", "b"], 2, network)
