"""dialogauge answer: a model's responses to the contexts of files, from a scripted endpoint."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from dialogauge.cli.main import main
from tests.serving.scripted import Scripted, bad_json, chat, delayed, error, too_many

KEY = "sk-not-to-be-seen-anywhere"
TURNS = [
    {"id": "1", "context": ["hi", "how are you?"], "response": "fine", "references": ["great"], "system": "a"},
    {"id": "2", "context": ["where is it?"], "response": "there", "system": "a", "ratings": {"overall": [1]}},
    {"id": "1", "context": ["hi", "how are you?"], "response": "so so", "references": ["well"], "system": "b"},
    {"id": "2", "context": ["where is it?"], "response": "here", "system": "b", "facts": ["it is here"]},
]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DIALOGAUGE_API_KEY", KEY)


@pytest.fixture
def contexts(tmp_path):
    return written(tmp_path / "turns.jsonl", TURNS)


def written(path, turns):
    path.write_text("".join(f"{json.dumps(turn)}\n" for turn in turns))
    return path


def many(path, count):
    return written(
        path, [{"id": str(n), "context": [f"question {n}"], "response": "", "system": "a"} for n in range(count)]
    )


def answer(contexts, server, out, *more):
    return main(["answer", str(contexts), "--model", "scripted", "--url", server.url, "--out", str(out), *more])


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def replying(asked):
    return chat(f"reply to {asked.body['messages'][-1]['content']}")


def test_each_context_is_asked_about_once_and_keeps_its_references(contexts, tmp_path, capsys):
    out = tmp_path / "new.jsonl"
    with Scripted(replying) as server:
        assert answer(contexts, server, out) == 0
    assert len(server.requests) == 2
    assert lines(out) == [
        {
            "id": "1",
            "context": ["hi", "how are you?"],
            "response": "reply to how are you?",
            "references": ["great", "well"],
            "system": "scripted",
        },
        {"id": "2", "context": ["where is it?"], "response": "reply to where is it?", "system": "scripted"},
    ]
    assert "2 responses of scripted to 2 distinct contexts, 2 requests sent" in capsys.readouterr().err


def test_what_is_sent(contexts, tmp_path):
    with Scripted(replying) as server:
        options = ["--system-prompt", "Be kind.", "--temperature", "0.5", "--max-tokens", "9", "--seed", "3"]
        assert answer(contexts, server, tmp_path / "new.jsonl", *options) == 0
    sent = next(body for body in server.bodies if len(body["messages"]) == 3)
    assert sent == {
        "model": "scripted",
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "assistant", "content": "hi"},
            {"role": "user", "content": "how are you?"},
        ],
        "temperature": 0.5,
        "max_tokens": 9,
        "seed": 3,
    }
    assert {asked.headers["authorization"] for asked in server.requests} == {f"Bearer {KEY}"}


def test_facts_are_told_where_asked_for(contexts, tmp_path):
    with Scripted(replying) as server:
        assert answer(contexts, server, tmp_path / "new.jsonl", "--facts", "--systems", "b") == 0
    messages = [message for body in server.bodies for message in body["messages"]]
    assert [message["content"] for message in messages if message["role"] == "system"] == ["it is here"]


def test_conversations_of_people_give_references(tmp_path):
    told = tmp_path / "people.jsonl"
    told.write_text(json.dumps({"dialogue": "d", "utterances": ["hi", "hello", "well?"]}) + "\n")
    out = tmp_path / "new.jsonl"
    with Scripted(replying) as server:
        assert answer(told, server, out, "--own-references") == 0
    assert [(line["references"], line["dialogue"]) for line in lines(out)] == [(["hello"], "d"), (["well?"], "d")]


def test_a_second_run_asks_nothing_and_writes_the_same_bytes(contexts, tmp_path):
    first, second = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    with Scripted(lambda asked: chat(f"reply {asked.number}")) as server:
        assert answer(contexts, server, first) == 0
        assert answer(contexts, server, second, "--offline") == 0
    assert len(server.requests) == 2
    assert first.read_bytes() == second.read_bytes()


def test_the_answers_stand_beside_the_systems_of_the_file(contexts, tmp_path, capsys):
    out = tmp_path / "new.jsonl"
    with Scripted(replying) as server:
        assert answer(contexts, server, out) == 0
    capsys.readouterr()
    call = ["compare", str(contexts), str(out), "--metrics", "length", "--format", "json", "--quiet"]
    assert main(call) == 0
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    assert {(pair["first"], pair["second"], pair["paired"], pair["units"]) for pair in pairs} == {
        ("a", "b", True, 2),
        ("a", "scripted", True, 2),
        ("b", "scripted", True, 2),
    }


def test_the_answers_pair_with_conversations_that_have_no_names(tmp_path, capsys):
    told = tmp_path / "people.txt"
    told.write_text(
        "Hi . __eou__ Hello . __eou__ Well ? __eou__\nTea ? __eou__ No . __eou__\nSo ? __eou__ Yes . __eou__\n"
    )
    with Scripted(replying) as server:
        assert answer(told, server, tmp_path / "new.jsonl") == 0
    capsys.readouterr()
    call = ["compare", str(told), str(tmp_path / "new.jsonl"), "--metrics", "length", "--format", "json", "--quiet"]
    assert main(call) == 0
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    assert (pair["paired"], pair["units"]) == (True, 3)


def test_offline_refuses_to_ask(contexts, tmp_path, capsys):
    with Scripted(replying) as server:
        assert answer(contexts, server, tmp_path / "new.jsonl", "--offline") == 2
    assert not server.requests
    assert "2 answers are not kept, and with --offline nothing is asked" in capsys.readouterr().err
    assert not (tmp_path / "new.jsonl").exists()


def test_a_dry_run_sends_nothing_and_says_what_it_would(contexts, tmp_path, capsys):
    with Scripted(replying) as server:
        assert (
            answer(contexts, server, tmp_path / "new.jsonl", "--dry-run", "--price", "1,2", "--max-tokens", "50") == 0
        )
        said = capsys.readouterr().out.splitlines()
        assert not server.requests
        assert answer(contexts, server, tmp_path / "new.jsonl", "--max-tokens", "50") == 0
        capsys.readouterr()
        assert answer(contexts, server, tmp_path / "other.jsonl", "--dry-run", "--max-tokens", "50") == 0
    # "hi" 1, "how are you?" 3 and "where is it?" 3 tokens at four characters each; 2 answers of at most 50
    assert said == [
        "2 requests to be sent, 0 of 2 answers kept already",
        "about 7 tokens to be sent (at 4 characters a token), 100 in answers at most",
        "price: 7e-06 for what is sent, up to 0.000207 with the longest answers",
    ]
    assert capsys.readouterr().out.startswith("0 requests to be sent, 2 of 2 answers kept already")


def test_max_requests_stops_with_what_was_answered_kept(tmp_path, capsys):
    contexts, out = many(tmp_path / "turns.jsonl", 6), tmp_path / "new.jsonl"
    with Scripted(replying) as server:
        assert answer(contexts, server, out, "--max-requests", "4") == 1
        assert "the same command asks for the others alone" in capsys.readouterr().err
        assert not out.exists()
        assert answer(contexts, server, out, "--max-requests", "4") == 0
    assert len(server.requests) == 6
    assert len({asked.text for asked in server.requests}) == 6


def test_faults_pass_and_are_not_kept(contexts, tmp_path):
    with Scripted([too_many("0"), bad_json(), chat("yes"), chat("no")]) as server:
        assert answer(contexts, server, tmp_path / "new.jsonl", "--concurrency", "1") == 0
    assert sorted(line["response"] for line in lines(tmp_path / "new.jsonl")) == ["no", "yes"]
    assert len(server.requests) == 4


def test_a_wrong_key_is_an_error_and_is_not_shown(contexts, tmp_path, capsys):
    with Scripted(error(401, "no such key")) as server:
        assert answer(contexts, server, tmp_path / "new.jsonl") == 1
    captured = capsys.readouterr()
    assert "401 no such key" in captured.err
    assert KEY not in captured.out + captured.err


def test_the_key_is_kept_nowhere(contexts, tmp_path, capsys):
    with Scripted(replying) as server:
        assert answer(contexts, server, tmp_path / "new.jsonl") == 0
    assert KEY.encode() not in b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    captured = capsys.readouterr()
    assert KEY not in captured.out + captured.err


def test_a_refused_context_is_an_error_or_left_out(contexts, tmp_path, capsys):
    def behave(asked):
        return error(400, "too long") if "how are you?" in asked.text else replying(asked)

    out = tmp_path / "new.jsonl"
    with Scripted(behave) as server:
        assert answer(contexts, server, out) == 1
        assert "refused the context of turn '1': 400 too long; --skip-refused" in capsys.readouterr().err
        assert not out.exists()
        assert answer(contexts, server, out, "--skip-refused") == 0
    assert [line["id"] for line in lines(out)] == ["2"]
    assert "1 context left out, which the endpoint refused" in capsys.readouterr().err


def test_what_the_reader_must_know(contexts, tmp_path, capsys):
    written(contexts, [*TURNS, {"id": "3", "response": "no context"}])
    with Scripted([chat(" ", model="another"), chat("so", model="another", finish_reason="length")]) as server:
        assert answer(contexts, server, tmp_path / "new.jsonl") == 0
    said = capsys.readouterr().err
    assert "1 turn left out, which has no context to answer" in said
    assert "1 response of 2 without any text" in said
    assert "1 response of 2 cut off at 256 tokens" in said
    assert "the endpoint says that 'another' answered, not 'scripted'" in said


def test_ids_stay_apart_where_systems_had_contexts_of_their_own(tmp_path):
    contexts = written(tmp_path / "turns.jsonl", [{**TURNS[0]}, {**TURNS[3], "id": "1"}, {**TURNS[1], "id": "1#2"}])
    with Scripted(replying) as server:
        assert answer(contexts, server, tmp_path / "new.jsonl") == 0
    ids = [line["id"] for line in lines(tmp_path / "new.jsonl")]
    assert len(set(ids)) == 3


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--max-tokens", "0"], "--max-tokens: expected a whole number"),
        (["--temperature", "-1"], "--temperature: expected a number"),
        (["--concurrency", "0"], "concurrency: expected a whole number"),
        (["--max-requests", "-1"], "max_requests: expected a whole number"),
        (["--url", "ftp://somewhere"], "somewhere"),
        (["--price", "dear"], "--price: expected IN,OUT"),
        (["--model", " "], "--model: expected a name"),
    ],
)
def test_wrong_calls_are_refused_before_anything_is_asked(contexts, tmp_path, capsys, more, message):
    with Scripted(replying) as server:
        assert answer(contexts, server, tmp_path / "new.jsonl", *more) == 2
    assert message in capsys.readouterr().err
    assert not server.requests


def test_a_file_that_is_there_is_left_as_it_is(contexts, tmp_path, capsys):
    with Scripted(replying) as server:
        assert answer(contexts, server, contexts, "--overwrite") == 2
        assert answer(contexts, server, contexts) == 2
    assert not server.requests
    assert lines(contexts) == TURNS


def test_killed_half_way_it_goes_on_where_it_was(tmp_path):
    contexts, out, calm = many(tmp_path / "turns.jsonl", 40), tmp_path / "new.jsonl", tmp_path / "calm.jsonl"
    with Scripted(lambda asked: delayed(0.05, replying(asked))) as server:
        call = [sys.executable, "-c", "from dialogauge.cli.entry import start; start()", "answer", str(contexts)]
        call += ["--model", "scripted", "--url", server.url, "--out", str(out), "--concurrency", "2", "--quiet"]
        process = subprocess.Popen(call)
        until = time.monotonic() + 30
        while len(server.requests) < 12 and time.monotonic() < until:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not out.exists()
        before = len(server.requests)
        assert 12 <= before < 40
        assert answer(contexts, server, out) == 0
        asked_twice = len(server.requests) - 40
        assert answer(contexts, server, calm, "--no-cache") == 0
    assert asked_twice <= 2  # those that were under way
    assert out.read_bytes() == calm.read_bytes()
