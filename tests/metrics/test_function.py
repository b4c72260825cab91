"""Metrics from plain functions: in Python, decorated, and from files on the command line."""

import json
import math
import pickle
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import dialogauge
from dialogauge import Corpus, InputError, Turn, compare, correlate, evaluate
from dialogauge.cli.main import main
from dialogauge.metrics.function import FunctionMetric, kept_metric
from dialogauge.metrics.registry import parse_requests


def asks(turn):
    """Share of replies that ask."""
    return float("?" in turn.response)


@dialogauge.metric("shouts", higher_is_better=False, bounds=(0, 1))
def shouts(turn):
    return turn.response.isupper()


CORPUS = Corpus(
    [
        Turn("0", "why?", ["a"], ["why not?"], "s0", {"overall": 4}),
        Turn("1", "so.", ["b"], (), "s0", {"overall": 1}),
        Turn("0", "WHO?", ["a"], ["who?"], "s1", {"overall": 5}),
        Turn("1", "me?", ["b"], (), "s1", {"overall": 4}),
    ]
)


def values(result):
    return {(score.metric, score.system): score.value for score in result.scores}


def test_a_function_is_a_metric_beside_others():
    metric = dialogauge.metric("asks", asks, higher_is_better=True, bounds=(0, 1))
    assert metric.title == "Share of replies that ask."
    assert metric(CORPUS.turns[0]) == 1.0
    # s0: one of two replies asks; s1: both do. One of s1's two replies is in capitals.
    found = values(evaluate(CORPUS, [metric, shouts, "length"]))
    assert [found["asks", "s0"], found["asks", "s1"]] == [0.5, 1.0]
    assert [found["shouts", "s0"], found["shouts", "s1"]] == [0.0, 0.5]
    assert found["length", "s0"] == 2.0
    pair = compare(CORPUS, [metric]).pairs[0]
    assert (pair.metric, pair.difference) == ("asks", -0.5)
    row = correlate(CORPUS, [metric], level="turn").rows[0]
    # Ratings 4, 1, 5, 4 against 1, 0, 1, 1: means 3.5 and 0.75, products 2.5, squares 9 and 0.75.
    assert row.pearson == pytest.approx(2.5 / math.sqrt(9 * 0.75))


def test_none_and_nan_are_turns_without_a_value_and_counted():
    some = dialogauge.metric("some", lambda turn: {"why?": 3, "so.": None, "WHO?": math.nan}.get(turn.response, 5))
    result = evaluate(CORPUS, some)
    assert values(result) == {("some", "s0"): 3.0, ("some", "s1"): 5.0}
    assert "some: no value for 2 of 4 turns; they are left out" in [caveat.message for caveat in result.caveats]


def test_turns_without_what_it_needs_are_left_out_and_counted():
    metric = dialogauge.metric("first", lambda turn: len(turn.references[0]), needs="references")
    result = evaluate(CORPUS, metric)
    assert [score.n for score in result.scores] == [1, 1]
    assert "first: 2 of 4 turns have no references and are left out" in [caveat.message for caveat in result.caveats]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda _: "no number", "returned 'no number'; expected a finite number, or None for no value"),
        (lambda _: math.inf, "returned inf; expected a finite number"),
        (lambda _: [1.0], "returned [1.0]; expected a finite number"),
        (lambda _: 10**400, "returned 1000"),
        (lambda _: sys.exit(3), "raised SystemExit: 3"),
        (lambda _: 2, "returned 2, outside of its bounds 0 to 1"),
        (lambda turn: turn.references[0], "raised IndexError: tuple index out of range"),
    ],
)
def test_what_is_no_number_is_refused_with_the_turn(function, message):
    metric = dialogauge.metric("odd", function, bounds=(0, 1))
    with pytest.raises(InputError) as error:
        evaluate(Corpus([Turn("17", "yes", system="bot")]), metric)
    assert f"odd: on the turn '17' of 'bot' the function {message}" in str(error.value)


def test_numbers_of_numpy_and_truth_values_are_numbers():
    for value in (np.float32(1.0), np.int64(1), True, np.True_):
        metric = dialogauge.metric("one", lambda _, value=value: value)
        assert metric.measure(CORPUS.turns).tolist() == [[1.0]] * 4


def test_everything_wrong_is_said_at_once():
    with pytest.raises(InputError) as error:
        dialogauge.metric("my metric", asks, higher_is_better="yes", bounds=(1, 0))
    assert str(error.value) == (
        "the metric 'my metric' cannot be made: name: expected a text without spaces and any of []|.,=:/, found"
        " 'my metric'; higher_is_better: expected True, False or None, found 'yes'; bounds: expected two numbers, the"
        " lower first, found (1, 0)"
    )
    for wrong, message in [
        ({"function": 3}, "expected a function, found 3"),
        ({"needs": "reference"}, "needs: 'reference' is none of context, dialogue, extra, facts, ratings, references"),
        ({"needs": None}, "needs: None is none of context"),
        ({"needs": [["context"]]}, r"needs: \['context'\] is none of context"),
        ({"name": "bleu"}, "the name is taken by dialogauge itself"),
    ]:
        with pytest.raises(InputError, match=message):
            dialogauge.metric(**{"name": "mine", "function": asks, **wrong})


def test_bounds_may_be_numbers_of_numpy():
    assert "|bounds:0.0..2.0|" in dialogauge.metric("asks", asks, bounds=np.array([0, 2])).signature


def test_a_decorator_without_a_name_is_refused():
    with pytest.raises(InputError, match="expected a name first, as in .*, found <function"):
        dialogauge.metric(asks)


def made_with(limit):
    return dialogauge.metric("long", lambda turn: len(turn.response) > limit)


def test_versions_of_a_function_have_signatures_of_their_own():
    metric = dialogauge.metric("asks", asks, higher_is_better=True, needs=["context"], bounds=(0, 1))
    name, function, digest, *rest = metric.signature.split("|")
    assert (name, function) == ("asks", "function:asks")
    assert digest.startswith("sha256:")
    assert rest == ["better:higher", "needs:context", "bounds:0.0..1.0", f"dialogauge:{dialogauge.__version__}"]
    assert kept_metric(metric.signature).signature == metric.signature
    assert made_with(3).signature != made_with(4).signature
    assert made_with(3).signature == made_with(3).signature
    parts = [
        dialogauge.metric("long", partial(lambda limit, turn: len(turn.response) > limit, limit)) for limit in (3, 3, 4)
    ]
    assert parts[0].signature == parts[1].signature != parts[2].signature
    typed = {}
    exec("def asks(turn): return 1.0\ndef tells(turn): return 2.0", typed)
    assert len({dialogauge.metric("typed", typed[name]).signature for name in ("asks", "tells")}) == 2


def test_the_same_metric_twice_is_one_and_two_of_a_name_are_refused():
    first, again = (dialogauge.metric("asks", asks) for _ in range(2))
    assert len(parse_requests([first, again])) == 1
    with pytest.raises(InputError, match="two different metrics are called asks"):
        parse_requests([first, dialogauge.metric("asks", shouts)])


def test_it_can_be_sent_to_another_process():
    metric = dialogauge.metric("asks", asks, higher_is_better=True, needs="context", bounds=(0, 1), title="t")
    again = pickle.loads(pickle.dumps(metric))
    assert (again, again.title, again.needs) == (metric, "t", ({"context"},))
    assert pickle.loads(pickle.dumps(shouts)) is shouts


FILE = """
from dataclasses import dataclass
import dialogauge

print("the file is run")

def asks(turn):
    return 1.0 if "?" in turn.response else None if turn.response == "so." else 0.0

def words(turn):
    "Words, parted by spaces."
    return len(turn.response.split())

words.higher_is_better = True
words.bounds = (0, 1000)

@dialogauge.metric("told", higher_is_better=True, bounds=(0, 1))
def tells(turn):
    return "?" not in turn.response

def fails(turn):
    return 1 / 0

@dataclass
class Thing:
    size: int = 1
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return path


@pytest.fixture
def responses(tmp_path):
    path = tmp_path / "bots.jsonl"
    records = [
        {"id": turn.id, "context": turn.context, "response": turn.response, "system": turn.system, "ratings": ratings}
        for turn in CORPUS
        for ratings in [{name: list(given) for name, given in turn.ratings.items()}]
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_functions_in_files_score_compare_and_correlate(file, responses, capsys):
    wanted = f"{file}:asks,length,{file}:tells,{file}:words"
    assert main(["score", str(responses), "--metrics", wanted, "--format", "json"]) == 0
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    assert {(each["system"], each["metric"]): each["value"] for each in found["scores"]}["s0", "asks"] == 1.0
    assert [each["higher_is_better"] for each in found["scores"] if each["system"] == "s0"][2:] == [None, True, True]
    assert any(warning["message"].startswith("asks: no value for 1 of 4 turns") for warning in found["warnings"])
    assert "the file is run" in shown.err
    assert main(["compare", str(responses), "--fail-if-worse", f"{file}:tells:0.9"]) == 0
    assert main(["compare", str(responses), "--metrics", "length", "--fail-if-worse", f"{file}:tells"]) in (0, 1)
    assert main(["correlate", str(responses), "--metrics", f"{file}:words", "--level", "turn"]) == 0
    assert main(["score", str(responses), "--fail-below", f"{file}:words=3"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metrics", "mine.py"], "which function of mine.py? Expected FILE.py:FUNCTION"),
        (["--metrics", "mine.py::asks"], "which function of mine.py::asks? Expected FILE.py:FUNCTION"),
        (["--metrics", "mine.py:asks[x=1]"], "expected NAME, NAME[OPTION=VALUE,...], NAME.PART or FILE.py:FUNCTION"),
        (["--fail-below", "{}:asks=1"], "this metric has no better or worse; a function says it by higher_is_better"),
    ],
)
def test_a_wrong_call_says_what_is_expected(file, responses, capsys, arguments, message):
    assert main(["score", str(responses), *(each.format(file) for each in arguments)]) == 2
    assert message in capsys.readouterr().err


def test_the_signature_changes_with_the_file(file, responses):
    before = parse_requests(f"{file}:asks")[0].metric.signature
    assert "|function:mine.py:asks|sha256:" in before
    file.write_text(FILE + "\n# another version\n")
    after = parse_requests(f"{file}:asks")[0].metric.signature
    assert before != after


def test_runs_that_were_kept_are_compared_without_the_file(file, responses, tmp_path, capsys):
    runs = [str(tmp_path / name) for name in ("one", "two", "three")]
    for run in runs[:2]:
        assert main(["score", str(responses), "--metrics", f"{file}:asks,length", "--out", run]) == 0
    file.write_text(FILE.replace("0.0", "0.5"))
    assert main(["score", str(responses), "--metrics", f"{file}:asks,length", "--out", runs[2]]) == 0
    file.unlink()
    capsys.readouterr()
    assert main(["compare", *runs[:2], "--metrics", "asks", "--format", "json"]) == 0
    assert {pair["metric"] for pair in json.loads(capsys.readouterr().out)["pairs"]} == {"asks"}
    assert main(["compare", runs[0], runs[2]]) == 2
    assert "asks was measured another way" in capsys.readouterr().err


def test_a_run_that_names_a_file_does_not_run_it(file, responses, tmp_path, capsys):
    run = tmp_path / "run"
    assert main(["score", str(responses), "--metrics", "length", "--out", str(run)]) == 0
    file.write_text("raise SystemExit('was run')")
    record = (run / "run.json").read_text()
    (run / "run.json").write_text(record.replace('"metric": "length"', f'"metric": "{file}:asks"'))
    other = tmp_path / "other"
    assert main(["score", str(responses), "--metrics", "length", "--out", str(other)]) == 0
    capsys.readouterr()
    assert main(["compare", str(run), str(other)]) == 2
    told = capsys.readouterr().err
    assert "is not a whole run" in told
    assert "was run" not in told


@pytest.mark.parametrize(
    ("content", "function", "message"),
    [
        (FILE, "ask", "unknown function of mine.py 'ask'; did you mean asks"),
        (FILE, "Thing", "the metric 'Thing' cannot be made: expected a function, found <class"),
        ("x = 1\ny = = 2\n", "asks", "mine.py:2: cannot be run: SyntaxError: invalid syntax"),
        ("import no_such_module\n", "asks", "mine.py:1: cannot be run: ModuleNotFoundError: No module named"),
        ("\nraise SystemExit(3)\n", "asks", "mine.py:2: cannot be run: SystemExit: 3"),
        (FILE, "fails", "fails: on the turn '0' of 's0' the function raised ZeroDivisionError: division by zero"),
        (None, "asks", "mine.py: cannot be read (No such file or directory); expected FILE.py:FUNCTION"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(file, responses, capsys, content, function, message):
    if content is None:
        file.unlink()
    else:
        file.write_text(content)
    assert main(["score", str(responses), "--metrics", f"length,{file}:{function}"]) == 2
    assert message in capsys.readouterr().err


def test_where_a_function_of_a_file_fails_is_said(file, responses, capsys):
    assert main(["score", str(responses), "--metrics", f"{file}:fails"]) == 2
    line = FILE.splitlines().index("    return 1 / 0") + 1
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"{file}:{line}: fails: on the turn")


def test_a_function_in_a_file_is_found_by_another_process(file, tmp_path):
    (request,) = parse_requests(f"{file}:tells")
    assert isinstance(request.metric, FunctionMetric)
    (tmp_path / "sent").write_bytes(pickle.dumps(request.metric))
    program = (
        "import pickle, sys; metric = pickle.load(open(sys.argv[1], 'rb')); from dialogauge import Turn;"
        "print(metric.signature, metric.measure([Turn('0', 'so.'), Turn('1', 'why?')]).tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "sent"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{request.metric.signature} [[1.0], [0.0]]\n"
    file.write_text(FILE + "# changed\n")
    with pytest.raises(InputError, match="mine.py: was changed while its function was in use"):
        pickle.loads((tmp_path / "sent").read_bytes())
