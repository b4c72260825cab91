"""Every format that is read can be scored as it is."""

import json

import pytest

from tests.corpus.samples import samples

SAMPLES = samples()


@pytest.mark.parametrize("name", SAMPLES)
def test_score_prints_a_table(dialogauge, tmp_path, name):
    """Samples for fuzzing: one of them has a turn twice."""
    done = dialogauge("score", SAMPLES[name].write(tmp_path), "--metrics", "length", "--skip-invalid")
    header, _, first, *_ = done.out.splitlines()
    assert (done.code, header.split()[:3]) == (0, ["system", "turns", "length"])
    assert any(cell.isdecimal() for cell in first.split())


def test_an_unknown_document_is_answered_with_its_keys_and_a_map(dialogauge, tmp_path):
    path = tmp_path / "odd.json"
    path.write_text(json.dumps([{"history_of_chat": ["hi"], "bot_says": "hello there"}]))
    done = dialogauge("score", path, "--metrics", "length")
    assert (done.code, done.out) == (2, "")
    assert "'history_of_chat', 'bot_says'" in done.err
    assert "--map response=bot_says,context=history_of_chat" in done.err
    named = dialogauge("score", path, "--metrics", "length", "--map", "response=bot_says,context=history_of_chat")
    assert named.code == 0
