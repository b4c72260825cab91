import pytest

from dialogauge.corpus import Turn, load
from tests.corpus.files import refusal, write

HEADER = "query,response,human_score,Ruber_Unref_Score,CTX_Unref_Score"
GENERATED = [("where ?", "yes .", 1, 0.5, 2e-7), ('"so"', "no", 2, 0.25, 1.0), ("where ?", "maybe", 3, 0.1, 0.2)]
TRUE = [
    ("where ?", "over there , see", 5, 0.9, 0.8),
    ('"so"', "so what", 4, 0.7, 0.6),
    ("where ?", "home", 3, 0.3, 0.4),
]


def content(*rows, header=HEADER, end="\n"):
    """As the authors' file has it, with a line break at the end of every cell."""
    lines = [",".join('"' + str(cell).replace('"', '""') + end + '"' for cell in row) for row in rows]
    return "\r\n".join([header, *lines, ""])


def rated(rows, *scores):
    """Every pair once for each rater, in the file's way: all pairs, then all again."""
    return [(query, response, str(score), *rest) for score in scores for query, response, _, *rest in rows]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_three_ratings_a_pair(tmp_path, name):
    path = write(tmp_path / name, content(*rated(GENERATED, 1, 2, 5), *rated(TRUE, 4, 4, 3)))
    corpus = load(path)
    assert corpus.files[0].reader == "bert_ruber"
    assert corpus.systems == ("generated", "true")
    first = corpus.turns[0]
    assert first == Turn(
        id="0",
        response="yes .",
        context=("where ?",),
        references=("over there , see",),
        system="generated",
        ratings={"appropriateness": (1.0, 2.0, 5.0)},
        extra={"Ruber_Unref_Score": 0.5, "CTX_Unref_Score": 2e-7},
    )
    assert [(turn.id, turn.context, turn.references) for turn in corpus.by_system["generated"]][1:] == [
        ("1", ('"so"',), ("so what",)),
        ("2", ("where ?",), ("home",)),
    ]
    assert [(turn.id, turn.response, turn.references) for turn in corpus.by_system["true"]] == [
        ("0", "over there , see", ()),
        ("1", "so what", ()),
        ("2", "home", ()),
    ]
    assert corpus.caveats == ()


def test_pairs_rated_more_or_less_often(tmp_path):
    rows = [*rated(GENERATED, 1, 2, 3), GENERATED[0], *rated(TRUE, 1, 2, 3), TRUE[1]]
    corpus = load(write(tmp_path / "a", content(*rows)))
    assert corpus.turns[0].ratings == {"appropriateness": (1.0, 2.0, 3.0, 1.0)}
    assert [(caveat.code, caveat.message) for caveat in corpus.caveats] == [
        ("uneven_ratings", f"{tmp_path / 'a'}: 2 pairs rated more or less often than three times")
    ]


def test_other_columns_are_plain_csv(tmp_path):
    header = "query,response,human_score"
    assert load(write(tmp_path / "a", content(("a", "b", 1), header=header))).files[0].reader == "csv"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("a", "b", "good", 1, 1), "rating 'human_score': expected a number, null or \"N/A\", found the text 'good'"),
        (("a", "b", 1, "high", 1), "'Ruber_Unref_Score': expected a number, found the text 'high'"),
        (("a", "b", 1, 1), "expected 5 columns, found 4"),
        (("where ?", "yes .", 1, 0.75, 1.0), "expected the scores that this pair has in line 2, found others"),
    ],
)
def test_bad_rows(tmp_path, row, message):
    rows = [GENERATED[0], row, TRUE[0], TRUE[1]]
    path = write(tmp_path / "a", content(*rows, end=""))
    assert refusal(path) == f":3: {message}"
    corpus = load(path, skip_invalid=True)
    assert [(turn.system, turn.id) for turn in corpus] == [("generated", "0"), ("true", "0"), ("true", "1")]


def test_halves_of_different_size(tmp_path):
    path = write(tmp_path / "a", content(*GENERATED))
    assert refusal(path) == ": expected as many rows of generated as of true replies, found 3 rows"


def test_columns_missing(tmp_path):
    path = write(tmp_path / "a", content(("a", "b"), header="query,response"))
    assert refusal(path, reader="bert_ruber") == (
        ":1: expected the columns query, response, human_score, each once, found 'query', 'response'"
    )
