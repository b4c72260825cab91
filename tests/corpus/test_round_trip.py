"""What is written as a file is what is read from it, whatever the text."""

import csv
import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialogauge.corpus import Turn, load

# Surrogates are no text: no UTF-8 file can hold them.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAME = TEXT.filter(bool)
NOT_BLANK = TEXT.filter(str.strip)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
VALUE = st.booleans() | st.integers(-(10**18), 10**18) | NUMBER | TEXT | st.lists(TEXT, max_size=2)
RATERS = st.lists(st.none() | NUMBER, min_size=1, max_size=3).filter(lambda raters: raters.count(None) < len(raters))

TURN = st.builds(
    Turn,
    id=NAME,
    response=TEXT,
    context=st.lists(TEXT, max_size=3).map(tuple),
    references=st.lists(NOT_BLANK, max_size=3).map(tuple),
    system=NAME,
    ratings=st.dictionaries(TEXT, RATERS.map(tuple), max_size=2),
    dialogue=st.none() | NAME,
    facts=st.lists(NOT_BLANK, max_size=2).map(tuple),
    extra=st.dictionaries(TEXT, VALUE, max_size=2),
)
TURNS = st.lists(TURN, min_size=1, max_size=4, unique_by=lambda turn: (turn.id, turn.system))
FIELDS = ["id", "context", "response", "references", "system", "ratings", "dialogue", "facts", "extra"]
THOROUGH = settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def record(turn):
    return {field: dict(v) if hasattr(v := getattr(turn, field), "keys") else v for field in FIELDS}


@THOROUGH
@given(turns=TURNS, ascii_only=st.booleans())
def test_json_lines(tmp_path, turns, ascii_only):
    path = tmp_path / "a.jsonl"
    lines = [json.dumps(record(turn), ensure_ascii=ascii_only) + "\n" for turn in turns]
    path.write_text("".join(lines), encoding="utf-8", newline="")
    assert load(path).turns == turns


@THOROUGH
@given(turns=TURNS, delimiter=st.sampled_from(",\t"))
def test_tables(tmp_path, turns, delimiter):
    path = tmp_path / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, delimiter=delimiter)
        rows.writerow(FIELDS)
        for turn in turns:
            rows.writerow(v if isinstance(v, str) or v is None else json.dumps(v) for v in record(turn).values())
    assert load(path).turns == turns
