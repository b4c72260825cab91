"""A damaged file gives turns or an `InputError`, never another exception."""

import json
from random import Random

import pytest

from dialogauge.corpus import load
from dialogauge.corpus.readers.registry import READERS
from dialogauge.errors import InputError
from tests.corpus.generate import generate
from tests.corpus.mutate import enlarge, mutate
from tests.corpus.samples import compressed, samples

CASES = 300
BINARY = {"parquet", "gzip", "eval log"}
SAMPLES = {**samples(), "gzip": compressed()}


def outcome(path, **options):
    try:
        turns = load(path, **options).turns
    except InputError as error:
        return str(error)
    # Whatever was read can be written again.
    assert all(turn.id and turn.system for turn in turns)
    json.dumps([(turn.response, turn.context, dict(turn.extra)) for turn in turns], allow_nan=False)
    "".join(turn.response for turn in turns).encode("utf-8")
    return "turns"


def test_every_reader_is_fuzzed():
    assert set(READERS) <= set(SAMPLES)


@pytest.mark.parametrize("name", SAMPLES)
def test_damaged_files(tmp_path, name):
    sample, random = SAMPLES[name], Random(name)
    binary = name in BINARY
    outcomes = []
    path = sample.write(tmp_path)
    for case in range(CASES):
        damaged = random.choice(sorted(sample.files))
        content = sample.files[damaged]
        # In a binary format several changes at once never get past its frame.
        odd = generate(content, random) if case % 4 == 3 and not binary else mutate(content, random, 1 if binary else 8)
        (tmp_path / damaged).write_bytes(odd)
        reader = name if case % 2 and name in READERS else None
        outcomes.append(outcome(path, reader=reader, skip_invalid=case % 3 == 0))
        (tmp_path / damaged).write_bytes(content)
    assert all(text.isprintable() for text in outcomes)
    assert 5 < outcomes.count("turns") < CASES - 5


@pytest.mark.parametrize("name", sorted(set(SAMPLES) - BINARY))
def test_files_with_one_thing_repeated_a_million_times(tmp_path, name):
    sample, random = SAMPLES[name], Random(name)
    path = sample.write(tmp_path)
    for _ in range(3):
        damaged = random.choice(sorted(sample.files))
        (tmp_path / damaged).write_bytes(enlarge(sample.files[damaged], random))
        assert outcome(path).isprintable()
        (tmp_path / damaged).write_bytes(sample.files[damaged])
