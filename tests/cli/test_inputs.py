"""Options that verbs share: names from users' files, which may hold commas; the columns of those files; chat logs;
stdin; and numbers that no one means."""

import argparse
import gzip
import hashlib
import io
import json

import pytest

from dialogauge.cli.common.inputs import listed_names, number, whole
from dialogauge.cli.main import build_parser
from dialogauge.corpus import load
from dialogauge.errors import InputError
from tests.corpus.files import write_lines
from tests.encode.models import build

CHOOSING = ("--choose", "--strata", "--seed")
"""Options of `plan` that are about which turns to ask, and not how many."""
HUGE = ["999999999999999999999999999", "-1", "nan", "inf", "1e999", "x", "", "9" * 5000]


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


@pytest.fixture
def log(tmp_path):
    """A chat log, of which every second message is the user's."""
    path = tmp_path / "log.jsonl"
    rows = [
        [
            {"role": ("user", "assistant")[place % 2], "content": f"some {'more ' * (i + place)}words of {i}, {place}"}
            for place in range(6)
        ]
        for i in range(10)
    ]
    path.write_text("".join(json.dumps({"messages": row}) + "\n" for row in rows))
    return path


LEFT_OUT = "20 messages of users are context only and not judged"


@pytest.mark.parametrize("verb", ["score", "sensitivity"])
def test_users_are_no_system_unless_they_are_named(dialogauge, log, verb):
    asked = (verb, log, "--metrics", "distinct", "--format", "json", "--resamples", 20)
    done = dialogauge(*asked)
    assert json.loads(done.out)["corpus"]["systems"] == ["log"]
    assert LEFT_OUT in done.err
    done = dialogauge(*asked, "--systems", "log:user,log")
    assert json.loads(done.out)["corpus"]["systems"] == ["log:user", "log"]
    assert LEFT_OUT not in done.err


def test_users_take_no_part_in_comparisons_and_perturbations(dialogauge, log):
    done = dialogauge("compare", log, "--metrics", "length")
    assert (done.code, done.err) == (2, "nothing to compare: there is only the system 'log'\n")
    done = dialogauge("perturb", log, "--kind", "noise", "--ratio", 1, "--out", "-")
    assert {json.loads(line)["system"] for line in done.out.splitlines()} == {"log"}
    assert LEFT_OUT in done.err
    done = dialogauge("compare", log, "--metrics", "length", "--systems", "log,log:user", "--format", "json")
    assert len(json.loads(done.out)["pairs"]) == 1


def test_rated_users_are_correlated_only_where_they_are_named(dialogauge, log, tmp_path):
    ratings = tmp_path / "ratings.csv"
    rated = [(f"{i}:{place}", (i + place) % 5) for i in range(10) for place in range(1, 6)]
    ratings.write_text("id,value\n" + "".join(f"{id},{value}\n" for id, value in rated))
    asked = ("correlate", log, "--ratings", ratings, "--metrics", "length", "--level", "turn", "--format", "json")
    for systems, turns in ((), 30), (("--systems", "log:user,log"), 50):
        done = dialogauge(*asked, *systems, "--resamples", 20)
        assert {row["n"] for row in json.loads(done.out)["rows"]} == {turns}


def test_a_log_of_users_alone_is_refused(dialogauge, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}))
    done = dialogauge("score", path, "--metrics", "length")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("expected replies of assistants, found only users")


@pytest.mark.parametrize(("role", "turns"), [(None, 30), ("assistant", 30), ("user", 20)])
@pytest.mark.parametrize("opened", ["load", "stream"])
def test_whose_messages_are_real_turns(log, role, turns, opened):
    from dialogauge import corpus
    from dialogauge.evaluation.measuring.real_turns import read_real

    real, _, caveats = read_real(getattr(corpus, opened)(log, role=role), progress=False)
    assert len(real) == turns
    assert [caveat.code for caveat in caveats] == (["users_left_out"] if role is None else [])


@pytest.mark.parametrize("fit", [200_000, 10])
def test_a_simulated_user_beside_real_users_is_one_command(dialogauge, log, tmp_path, monkeypatch, fit):
    """Turns of users alone, on both sides, in memory and in chunks."""
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", fit)
    same = tmp_path / "same.jsonl"
    same.write_bytes(log.read_bytes())
    asked = ("score", log, "--real", same, "--metrics", "fbd,length", "--format", "json", "--engine", "here")
    done = dialogauge(*asked, "--role", "user")
    scores = {score["metric"]: score for score in json.loads(done.out)["scores"]}
    assert (scores["length"]["system"], scores["length"]["n"]) == ("log:user", 20)
    assert scores["fbd"]["value"] == pytest.approx(0, abs=1e-6)
    done = dialogauge(*asked, "--role", "assistant")
    assert {score["n"] for score in json.loads(done.out)["scores"] if score["metric"] == "length"} == {30}
    assert "of users" not in done.err


def test_a_role_that_no_message_has(dialogauge, tmp_path):
    path = tmp_path / "plain.jsonl"
    path.write_text('{"utterances": ["hi", "hello"]}\n')
    done = dialogauge("score", path, "--metrics", "length", "--role", "user")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("--role user: expected chat messages of this role, found no turn that a role is told of\n")
    with pytest.raises(InputError, match="unknown role 'bot'"):
        load(path, role="bot")


@pytest.fixture
def piped(monkeypatch, tmp_path):
    """Puts bytes on stdin; what is spooled lies in a folder that is to be empty afterwards."""
    spool = tmp_path / "spool"
    spool.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spool))

    def put(content):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    yield put
    assert list(spool.iterdir()) == []


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_hyphen_is_stdin(dialogauge, piped, responses, tmp_path, pack):
    content = pack(responses.read_bytes())
    asked = ("--metrics", "bleu", "--format", "csv", "--seed", 3)
    piped(content)
    done = dialogauge("score", "-", *asked, "--out", tmp_path / "run")
    assert done.out == dialogauge("score", responses, *asked).out
    (file,) = json.loads((tmp_path / "run" / "run.json").read_text())["files"]
    assert file == {"path": "-", "sha256": hashlib.sha256(content).hexdigest(), "reader": "jsonl"}


def test_what_is_piped_in_is_called_stdin(dialogauge, piped, rated, bots):
    piped(b'{"response": "a"}\n{"response": 3}\n')
    done = dialogauge("score", "-", "--metrics", "length")
    assert (done.code, done.err) == (2, "stdin:2: response: expected text, found the number 3\n")
    piped(b'{"response": "a"}\n{"response": 3}\n')
    done = dialogauge("perturb", "-", "--kind", "noise", "--ratio", 0, "--skip-invalid", "--out", "-")
    assert json.loads(done.out) == {"id": "0", "response": "a", "system": "stdin"}
    assert "warning: stdin: 1 line left out" in done.err
    piped(b'{"id": "1", "response": "a"}\n{"response": "b"}\n')
    assert dialogauge("score", "-", "--metrics", "length").err == (
        "stdin:2: has no id, and the one made of its position, '1', stands already at stdin:1; give all turns of system"
        " 'stdin' an id, or none\n"
    )
    piped(rated.read_bytes())
    done = dialogauge("correlate", "-", "--metrics", "length", "--level", "turn", "--format", "json", "--resamples", 20)
    assert {row["corpus"] for row in json.loads(done.out)["rows"]} == {"stdin"}
    piped(bots.read_bytes())
    done = dialogauge("compare", "-", bots, "--metrics", "length")
    assert done.err.startswith(f"both - and {bots} have 'a' in 'model': say ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-", "-"), "expected - once, found it twice: what is piped in can be read once\n"),
        (("-", "--real", "-"), "-: expected turns, found nothing piped in (what is, can be read once: give - once)\n"),
    ],
)
def test_stdin_can_be_read_once(dialogauge, piped, responses, arguments, message):
    piped(responses.read_bytes())
    done = dialogauge("score", *arguments, "--metrics", "fbd", "--encoder", "static:none")
    assert (done.code, done.err) == (2, message)


def test_nothing_on_stdin(dialogauge, piped):
    piped(b"")
    assert dialogauge("score", "-", "--metrics", "length").err.startswith("-: expected turns, found nothing piped in")


@pytest.mark.parametrize("verb", ["normality", "sensitivity"])
def test_lines_that_cannot_be_read(dialogauge, tmp_path, verb):
    source = write_lines(tmp_path / "in.jsonl", *({"response": f"one two {i}"} for i in range(20)), "{")
    options = {
        "normality": ("--encoder", build("bert", tmp_path / "bert")),
        "sensitivity": ("--metrics", "length", "--kinds", "permute", "--resamples", 20),
    }
    call = (verb, source, *options[verb])
    done = dialogauge(*call)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"{source}:21: not valid JSON")
    done = dialogauge(*call, "--skip-invalid")
    assert done.code == 0
    assert done.err.count("1 line left out") == 1
    assert dialogauge(*call, "--reader", "jsnl").err.startswith("unknown reader 'jsnl'")


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


def partly_rated(files, folder):
    """The same turns, the first of them rated by two people."""
    turns = [json.loads(line) for line in files.read_text(encoding="utf-8").splitlines()]
    for place, turn in enumerate(turns[:40]):
        turn["ratings"] = {"overall": [1 + place % 5, 1 + place % 4]}
    path = folder / "rated.jsonl"
    path.write_text("".join(json.dumps(turn) + "\n" for turn in turns), encoding="utf-8")
    return path


def call(words, files, folder, option=""):
    """The verb with all that it requires."""
    more = {
        "score": ["--metrics", "length"],
        "compare": ["--metrics", "length"],
        "correlate": ["--metrics", "length"],
        "sensitivity": ["--metrics", "length"],
        "perturb": ["--kind", "noise", "--ratio", "0.5", "--out", "-"],
        "synthesize": ["--out", folder / "pairs.jsonl"],
        "train": ["--out", folder / "model"],
        "estimate": ["--metrics", "length"],
        "plan": ["--metrics", "length", *(["--choose", "5"] if option in CHOOSING else ["--difference", "0.5"])],
        "rate": ["--study", folder / "study", "--no-serve"],
        "reproduce": [],
    }
    paper = ["ruber-table3", "--corpora", folder, "--conversations", files, "--validation", files]
    first = {"synthesize": ["entailment", files], "reproduce": paper}
    first |= {verb: [partly_rated(files, folder)] for verb in ("estimate", "plan")}
    return [*words, *first.get(words[0], [files]), *more.get(words[0], [])]


def test_no_option_reads_numbers_its_own_way():
    for words, parser in _leaves(build_parser(), ()):
        assert not [action.dest for action in parser._actions if action.type in (int, float)], words


@pytest.mark.parametrize("words", list(numeric_options()), ids="-".join)
def test_numbers_that_no_one_means(dialogauge, responses, tmp_path, words):
    *verb, option = words
    for value in HUGE:
        done = dialogauge(*call(verb, responses, tmp_path, option), f"{option}={value}")
        assert (done.code, done.out) == (2, ""), (option, value, done.err)
        assert "Traceback" not in done.err
        name = option.strip("-").removesuffix("-share").replace("-", "_")
        assert name.replace("validation", "share to validate") in done.err or option in done.err, (value, done.err)


def test_what_is_printed(dialogauge, responses):
    done = dialogauge("score", responses, "--metrics", "bleu", "--resamples", "999999999999")
    assert done.err == "resamples: expected a whole number from 1 to 1,000,000, found 999999999999\n"
    done = dialogauge("score", responses, "--metrics", "bleu", "--seed", "seven")
    assert "error: argument --seed: expected a whole number, found 'seven'" in done.err


def test_an_unknown_record_is_refused_with_the_map_that_does(dialogauge, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"bot_says": "fine, and you", "user_history": ["how are you?"], "n, m": "x"}\n')
    refused = dialogauge("score", path, "--metrics", "length")
    assert refused.code == 2
    said = "--map response=bot_says,context=user_history"
    assert "the fields are 'bot_says', 'user_history', 'n, m'" in refused.err
    assert refused.err.rstrip().endswith(said)
    assert dialogauge("score", path, "--metrics", "length", *said.split()).code == 0
    assert dialogauge("score", path, "--metrics", "length", "--map", "response=n, m,context=user_history").code == 0


def test_an_unknown_document_is_refused_with_its_keys(dialogauge, tmp_path):
    path = tmp_path / "log.json"
    path.write_text('{\n "version": 1,\n "data": [\n  {"x": "a"}\n ]\n}\n')
    refused = dialogauge("score", path)
    assert refused.code == 2
    assert "one JSON object with the keys 'version', 'data'; if 'data' holds the records" in refused.err
