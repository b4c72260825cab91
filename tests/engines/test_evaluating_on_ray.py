"""An evaluation on a real Ray cluster of two nodes has the numbers that it has here and in several processes."""

import json
import random

import pytest

from dialogauge import InputError, evaluate, stream
from dialogauge.cli.main import main
from dialogauge.engines import make_engine
from dialogauge.metrics.registry import parse_request
from tests.encode.models import build
from tests.engines import work
from tests.evaluation.measuring.killing import Killer
from tests.evaluation.measuring.test_in_chunks import LEARNING, LEXICAL, nearly, numbers, text

pytestmark = pytest.mark.scale


@pytest.fixture
def files(tmp_path):
    """Two systems over three files."""
    rng, paths = random.Random(8), []
    for name in "abc":
        rows = [
            {"id": f"{name}{place}", "system": system, "context": [text(rng)], "dialogue": f"{name}{place // 4}"}
            | {"response": text(rng), "references": [text(rng)]}
            for place in range(60)
            for system in "st"
        ]
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_text("".join(json.dumps(row) + "\n" for row in rows))
    return paths


@pytest.fixture(autouse=True)
def in_chunks(on_ray, monkeypatch):
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 50)
    monkeypatch.setattr("dialogauge.corpus.chunks.plan.CHUNK_BYTES", 6000)


def test_the_same_bits_as_here_and_in_processes(files):
    here = evaluate(stream(files), LEXICAL, workers=1)
    processes = evaluate(stream(files), LEXICAL, workers=2)
    found = evaluate(stream(files), LEXICAL, engine="ray")
    assert numbers(found) == numbers(processes) == numbers(here)
    assert found.caveats == here.caveats
    assert found.files == here.files
    assert str(found) == str(here)
    assert found.turns_to_frame().equals(here.turns_to_frame())
    other = evaluate(stream(files[::-1]), LEXICAL, engine="ray", workers=3)
    nearly(numbers(other), numbers(here))


def test_encoders_and_what_is_learned_from_the_corpus(files, tmp_path_factory):
    encoder = str(build("bert", tmp_path_factory.mktemp("encoder")))
    options = {"encoder": encoder, "cache": False, "resamples": 20}
    here = evaluate(stream(files), f"bleu,{LEARNING}", workers=1, **options)
    found = evaluate(stream(files), f"bleu,{LEARNING}", engine="ray", **options)
    nearly(numbers(found), numbers(here), 1e-6)
    mine, theirs = (
        {key: each for key, each in numbers(result).items() if key[1] == "bleu"} for result in (found, here)
    )
    assert mine == theirs


def test_the_first_bad_line_of_all_is_named(files):
    lines = files[0].read_text().splitlines()
    lines[100], lines[110] = '{"response": 5}', "{broken"
    files[0].write_text("\n".join(lines) + "\n")
    files[2].write_text("{worse\n" + files[2].read_text())
    with pytest.raises(InputError, match=r"a\.jsonl:101: response: expected text"):
        evaluate(stream(files), "length", engine="ray")


def test_a_worker_that_is_killed_is_made_up_for(files, tmp_path):
    expected = evaluate(stream(files), Killer(str(tmp_path / "never")), workers=1)
    (tmp_path / "once").touch()
    found = evaluate(stream(files), Killer(str(tmp_path / "once")), engine="ray")
    assert [(s.value, s.low, s.high) for s in found.scores] == [(s.value, s.low, s.high) for s in expected.scores]
    assert "1 worker died" in next(caveat.message for caveat in found.caveats if caveat.code == "made_up_for")


def test_workers_for_plain_words_do_without_torch():
    learned = {name: parse_request(name).metric.learn(None, None, None) for name in ("bleu", "distinct")}
    with make_engine("ray", 2) as engine:
        assert engine.fold(work.Imported(learned), range(2)) == []


def test_the_command_line(files, capfd):
    given = [*map(str, files), "--metrics", "bleu,length", "--format", "json", "--quiet"]
    assert main(["score", *given, "--workers", "1"]) == 0
    expected = capfd.readouterr().out
    assert main(["score", *given, "--engine", "ray"]) == 0
    assert capfd.readouterr().out == expected
