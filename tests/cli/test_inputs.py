"""Options that verbs share: names from users' files, which may hold commas; the columns of those files."""

import json

import pytest

from dialogauge.cli.inputs import listed_names


@pytest.mark.parametrize(
    ("lists", "names"),
    [
        (None, None),
        (["a,b"], ["a", "b"]),
        ([" a , b ", "b", "c"], ["a", "b", "c"]),
        ([r"t=0.7\, k=40"], ["t=0.7, k=40"]),
        ([r"a\,b,c", r"\,"], ["a,b", "c", ","]),
        ([r"a\b,c:\x"], [r"a\b", r"c:\x"]),
    ],
)
def test_commas_separate_names_unless_a_backslash_stands_before(lists, names):
    assert listed_names(lists) == names


@pytest.fixture
def rated(tmp_path):
    path = tmp_path / "rated.jsonl"
    rows = [
        {
            "id": str(i),
            "context": [f"question {i}"],
            "response": "so " * (i + place),
            "references": ["so"],
            "system": system,
            "ratings": {"clear, short": [5 - i % 4], "overall": [i % 5]},
        }
        for i in range(8)
        for place, system in enumerate(("big, warm", "big, cold", "small"))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


SYSTEMS = ("--systems", r"small,big\, cold", "--systems", r"big\, warm")
CHOSEN = ["small", "big, cold", "big, warm"]


def test_systems_of_score_and_compare(dialogauge, rated):
    for verb in ("score", "compare"):
        done = dialogauge(verb, rated, "--metrics", "length", *SYSTEMS, "--resamples", 50, "--format", "json")
        assert json.loads(done.out)["corpus"]["systems"] == CHOSEN


def test_systems_and_dimensions_of_correlate(dialogauge, rated):
    call = ("--metrics", "length", *SYSTEMS, "--dimension", r"clear\, short", "--dimension", "overall")
    done = dialogauge("correlate", rated, *call, "--level", "turn", "--resamples", 50, "--format", "json")
    assert [row["dimension"] for row in json.loads(done.out)["rows"]] == ["clear, short", "overall"]
    assert {row["n"] for row in json.loads(done.out)["rows"]} == {24}


@pytest.mark.parametrize(
    "call",
    [
        ("score", "--metrics", "length"),
        ("compare", "--metrics", "length"),
        ("correlate", "--metrics", "length"),
        ("sensitivity", "--metrics", "length"),
        ("perturb", "--kind", "truncate", "--ratio", "1", "--out", "worse.jsonl"),
        ("normality",),
    ],
)
def test_every_verb_with_systems_reads_them_alike(dialogauge, rated, call, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    done = dialogauge(call[0], rated, *call[1:], "--systems", r"big\, cold", "--systems", r"big\, hot")
    assert (done.code, done.err) == (2, "unknown system 'big, hot'; did you mean big, cold or big, warm?\n")


@pytest.fixture
def bots(tmp_path):
    path = tmp_path / "bots.csv"
    rows = [f"question {i},{'so ' * (i + place)},{bot},so" for i in range(8) for place, bot in enumerate("abc")]
    path.write_text("\n".join(["prompt,answer,model,gold", *rows]) + "\n")
    return path


@pytest.mark.parametrize("verb", ["score", "compare", "sensitivity"])
def test_a_column_of_models_gives_as_many_systems(dialogauge, bots, verb):
    done = dialogauge(verb, bots, "--metrics", "bleu", "--format", "json", "--resamples", 20)
    assert done.code == 0
    assert json.loads(done.out)["corpus"]["systems"] == ["a", "b", "c"]
    assert "warning: " in done.err
    assert "system from 'model'" in done.err


def test_columns_are_named_with_map(dialogauge, bots):
    scores = {}
    for bot in ("model", "prompt", ""):
        done = dialogauge("score", bots, "--metrics", "bleu", "--format", "json", "--map", f"system={bot}")
        scores[bot] = json.loads(done.out)["corpus"]["systems"]
    assert scores == {"model": ["a", "b", "c"], "prompt": [f"question {i}" for i in range(8)], "": ["bots"]}


@pytest.mark.parametrize(
    ("maps", "message"),
    [
        (["model"], "--map: expected FIELD=COLUMN, as system=model, found 'model'\n"),
        (["=model"], "--map: expected FIELD=COLUMN, as system=model, found '=model'\n"),
        (["system=a", "system=b"], "--map: expected each field once, found 'system' twice\n"),
        (["systm=model"], "unknown field 'systm'; did you mean system?\n"),
    ],
)
def test_bad_maps(dialogauge, bots, maps, message):
    done = dialogauge("score", bots, "--metrics", "bleu", *(part for given in maps for part in ("--map", given)))
    assert (done.code, done.err) == (2, message)
