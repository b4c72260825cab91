"""Nothing is asked of any host where all that is needed lies here, nor for names that only a file has: not even with
the hub allowed. One process runs every call, and notes what it tries to reach."""

import json
import os
import subprocess
import sys

import pytest

from tests.encode.models import build, change_json
from tests.learned.small import change_card, write_entailment, write_gauge, write_ruber, write_vectors

pytestmark = pytest.mark.slow

WATCHED = """
import json, sys
reached = []
def watch(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"}:
        reached.append(event)
        raise ConnectionError("nothing is to be reached")
sys.addaudithook(watch)
from dialogauge.cli.main import main
for call in json.load(sys.stdin):
    try:
        code = main(call)
    except SystemExit as left:
        code = left.code
    print("call", json.dumps([code, reached]), flush=True)
    reached.clear()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Turns, encoders, and models whose cards name an encoder that someone else has on the hub."""
    folder = tmp_path_factory.mktemp("local")
    words = write_vectors(folder / "words.txt")
    bert = str(build("bert", folder / "bert", num_hidden_layers=1))
    hostile = {"name": "attacker/repo"}
    change_card(write_ruber(folder / "ruber", words), encoder=hostile)
    change_card(write_entailment(folder / "entailment", words), encoder=hostile)
    change_card(write_gauge(folder / "gauge", bert), encoder=hostile)
    change_json(build("bert", folder / "kernels", num_hidden_layers=1) / "config.json", _attn_implementation="a/b")
    turns = [{"context": ["hello"], "response": f"hello {word}", "references": ["bye"]} for word in ("tea", "milk")]
    (folder / "turns.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    return folder


def reached(folder, *metrics):
    """The exit status of `score` under each metric, and what it tried to reach."""
    calls = [["score", "turns.jsonl", "--metrics", metric, "--resamples", "5", "-q"] for metric in metrics]
    environment = {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"}
    environment["DIALOGAUGE_CACHE"] = str(folder / "cache")
    done = subprocess.run(
        [sys.executable, "-c", WATCHED],
        cwd=folder,
        env=environment,
        input=json.dumps(calls),
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line.removeprefix("call ")) for line in done.stdout.splitlines() if line.startswith("call ")]


def test_no_connection(folder):
    local = "length", "bertscore[encoder=bert]", "fbd[encoder=kernels]", "embedding_average[encoder=static:words.txt]"
    hostile = "ruber[model=ruber]", "entailment[model=entailment]", "gauge[model=gauge]"
    assert reached(folder, *local, *hostile) == [[0, []]] * len(local) + [[2, []]] * len(hostile)


def test_a_name_that_was_typed_is_asked_for(folder):
    """Or else nothing would be shown above."""
    ((code, tried),) = reached(folder, "bertscore[encoder=typed/name]")
    assert code == 2
    assert tried
