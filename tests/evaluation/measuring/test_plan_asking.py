"""--dry-run counts what would be asked, and asks nothing."""

import pytest

from dialogauge.cli.main import main
from tests.serving.scripted import Scripted, chat


@pytest.fixture
def server(monkeypatch, tmp_path):
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path))
    with Scripted(chat("4")) as running:
        yield running


def planned(server, capsys, *more, options=""):
    wanted = f"judge[model=scripted,url={server.url}{options}],bleu"
    call = ["score", "examples/everyday.jsonl", "--metrics", wanted, "--quiet", *more]
    assert main(call) == 0
    return capsys.readouterr().out.splitlines()


def test_what_would_be_sent_is_counted_and_not_sent(server, capsys):
    first, tokens, price = planned(server, capsys, "--dry-run", "--price", "1000000,0")
    # 3 systems of 64 turns, and one to find out what the endpoint takes.
    assert first == "193 requests to be sent, 0 of 193 answers kept already"
    assert f"{193 * 32:,} in answers at most" in tokens
    assert server.requests == []
    planned(server, capsys)
    assert len(server.requests) == 193
    estimated, sent = int(tokens.split()[1].replace(",", "")), sum(len(asked.text) for asked in server.requests)
    assert sent / 4 <= estimated <= sent / 4 + 2 * 193
    assert price.startswith(f"price: {estimated:.4g} ".replace("e+0", "e+0"))
    # The endpoint gives no logprobs, so that other requests were sent than was assumed; now that is known.
    again = planned(server, capsys, "--dry-run")
    assert again[0] == "0 requests to be sent, 192 of 192 answers kept already"
    more = planned(server, capsys, "--dry-run", "--systems", "good", options=",samples=3,temperature=1,logprobs=false")
    assert more[0] == "193 requests to be sent, 0 of 193 answers kept already"
    assert len(server.requests) == 193


def test_where_nothing_asks_there_is_nothing_to_count(capsys):
    assert main(["score", "examples/everyday.jsonl", "--metrics", "bleu", "--dry-run"]) == 2
    assert "none of the metrics asks any: bleu" in capsys.readouterr().err
