"""Chunks, read one after another, give what `load` gives: turns, errors, caveats, whatever their size."""

import gzip
import hashlib
import json
import random
from collections import Counter
from functools import reduce
from operator import add

import pytest

from dialogauge import InputError, load
from dialogauge.corpus.chunks.count import positions_before
from dialogauge.corpus.chunks.notes import Notes, whole_hash
from dialogauge.corpus.chunks.plan import plan_chunks
from dialogauge.corpus.chunks.read import ChunkReading
from dialogauge.corpus.how import HowToRead
from dialogauge.corpus.reading.reader import PositionsUnknown
from dialogauge.corpus.reading.seen import SeenIds

ENDS = ["\n", "\r\n", "\n\n", "\n \n"]


def read_all(paths, how=None, **planned):
    how = how or HowToRead()
    plan = plan_chunks(paths, how, **planned)
    before = positions_before(plan.chunks, [ChunkReading(chunk, how, None).count() for chunk in plan.chunks])
    turns, notes = [], []
    for chunk in plan.chunks:
        reading = ChunkReading(chunk, how, before[chunk.number])
        turns += reading.turns()
        notes.append(reading.notes)
    whole = reduce(add, notes, Notes())
    whole.check(paths, plan.chunks)
    return turns, whole


def records(rng, count, file="a"):
    """With and without ids, systems, dialogues; texts of many bytes, U+2028 among them."""
    for number in range(count):
        record = {"response": rng.choice(["", "sí\u2028no", "x" * rng.randrange(300), "\U0001f600 fine"])}
        if rng.random() < 0.6:
            record["id"] = f"{file}{number}"
        if rng.random() < 0.5:
            record["system"] = rng.choice("pq")
        if rng.random() < 0.5:
            record["context"] = ["hi", "how are you?"]
        yield record


def written(path, rng, lines, bom=False):
    text = "".join(line + rng.choice(ENDS) for line in lines)
    if rng.random() < 0.3:
        text = text.rstrip()
    path.write_bytes((b"\xef\xbb\xbf" if bom else b"") + text.encode())
    return path


@pytest.mark.parametrize("seed", range(30))
def test_chunks_of_lines_give_what_load_gives(tmp_path, seed):
    rng = random.Random(seed)
    paths = [
        written(
            tmp_path / f"{name}.jsonl",
            rng,
            map(json.dumps, records(rng, rng.randrange(1, 40), name)),
            rng.random() < 0.3,
        )
        for name in "ab"
    ]
    expected = load(paths)
    for size, shards in ((1, 1), (rng.randrange(2, 200), 1), (rng.randrange(50, 2000), rng.randrange(1, 9))):
        turns, notes = read_all(paths, size=size, shards=shards)
        assert turns == expected.turns
        assert [turn.numbered for turn in turns] == [turn.numbered for turn in expected.turns]
        assert notes.caveats == list(expected.caveats)


@pytest.mark.parametrize("seed", range(10))
def test_the_first_bad_line_is_named_as_in_the_whole_file(tmp_path, seed):
    rng = random.Random(seed)
    lines = [json.dumps(record) for record in records(rng, 40)]
    for place in sorted(rng.sample(range(1, 40), 3)):
        lines[place] = rng.choice(['{"response": 3}', "{broken", '{"respons": "x"}'])
    path = written(tmp_path / "a.jsonl", rng, lines)
    with pytest.raises(InputError) as expected:
        load(path)
    with pytest.raises(InputError) as found:
        read_all([path], size=rng.randrange(1, 500))
    assert str(found.value) == str(expected.value)
    how = HowToRead(skip_invalid=True)
    turns, notes = read_all([path], how, size=rng.randrange(1, 500))
    whole = load(path, skip_invalid=True)
    assert turns == whole.turns
    assert notes.caveats == list(whole.caveats)


def test_bytes_that_are_no_text_are_named_too(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"response": "a"}\n' * 20 + b'{"response": "\xff"}\n' + b'{"response": "b"}\n' * 20)
    with pytest.raises(InputError, match=r"a\.jsonl:21: expected UTF-8"):
        read_all([path], size=50)
    turns, notes = read_all([path], HowToRead(skip_invalid=True), size=50)
    assert turns == load(path, skip_invalid=True).turns
    assert [caveat.code for caveat in notes.caveats] == ["skipped_lines"]


def test_conversations_without_names_keep_their_positions(tmp_path):
    path = tmp_path / "logs.jsonl"
    lines = [json.dumps({"utterances": ["hi", f"hello {n}", "bye"]}) for n in range(30)]
    path.write_text("\n".join(lines))
    expected = load(path)
    assert read_all([path], size=70)[0] == expected.turns
    text = tmp_path / "daily.txt"
    text.write_text("".join(f"hi __eou__ hello {n} __eou__\n" for n in range(30)))
    assert read_all([text], size=40)[0] == load(text).turns


def test_what_was_not_counted_is_not_guessed(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"response": "a"}\n' * 10)
    first, second = plan_chunks([path], HowToRead(), size=90).chunks[:2]
    assert [turn.id for turn in ChunkReading(first, HowToRead(), None).turns()] == ["0", "1", "2", "3", "4"]
    with pytest.raises(PositionsUnknown):
        list(ChunkReading(second, HowToRead(), None).turns())


def test_the_second_half_of_the_first_chunk_is_not_guessed_either(tmp_path):
    """A chunk that ran out of memory is cut in two, and both halves keep its number."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"response": "a"}\n' * 10)
    first, second = plan_chunks([path], HowToRead()).chunks[0].halves()
    assert [turn.id for turn in ChunkReading(first, HowToRead(), None).turns()] == ["0", "1", "2", "3", "4"]
    with pytest.raises(PositionsUnknown):
        list(ChunkReading(second, HowToRead(), None).turns())


def test_the_hash_of_a_chunk_in_two_halves_is_of_both(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"id": f"n{n}", "response": "x"}) + "\n" for n in range(10)))
    notes = Notes()
    for half in plan_chunks([path], HowToRead()).chunks[0].halves():
        reading = ChunkReading(half, HowToRead(), None)
        assert len(list(reading.turns())) == 5
        notes += reading.notes
    content = path.read_bytes()
    parts = [hashlib.sha256(part).digest() for part in (content[: len(content) // 2], content[len(content) // 2 :])]
    assert notes.source_files[0].sha256 == hashlib.sha256(b"".join(parts)).hexdigest()


def test_a_column_that_is_a_field_in_one_chunk_alone_is_refused(tmp_path):
    """`load` asks the first record of all what `target` is; a chunk only has its own."""
    path = tmp_path / "a.jsonl"
    rows = [{"id": f"n{n}", "response": "x", "target": 3 if n < 20 else "three"} for n in range(40)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert not any(turn.references for turn in load(path).turns)
    for size in (100, 1000):
        with pytest.raises(InputError, match=r"a\.jsonl: references: found that 'target' .*; say --map references="):
            read_all([path], size=size)
    how = HowToRead(mapping={"references": None})
    turns, _ = read_all([path], how, size=100)
    assert turns == load(path, mapping={"references": None}).turns


def test_names_of_their_own_need_no_counting(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"id": f"n{n}", "response": "x"}) + "\n" for n in range(30)))
    chunks = plan_chunks([path], HowToRead(), size=100).chunks
    assert len(chunks) > 5
    found = [turn for chunk in chunks for turn in ChunkReading(chunk, HowToRead(), None).turns()]
    assert found == load(path).turns


@pytest.mark.parametrize("groups", [1, 3, 7, 1000])
def test_row_groups_of_parquet(tmp_path, groups):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = list(records(random.Random(1), 100))
    table = pa.table({name: [row.get(name) for row in rows] for name in ("id", "response", "system", "context")})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=groups)
    expected = load(path)
    for size, shards in ((1, 1), (10**6, 1), (2000, 3)):
        turns, notes = read_all([path], size=size, shards=shards)
        assert turns == expected.turns
    assert notes.caveats == list(expected.caveats)
    bad = table.set_column(1, "response", pa.array([None if n == 71 else "x" for n in range(100)]))
    pq.write_table(bad, path, row_group_size=groups)
    with pytest.raises(InputError) as told:
        load(path)
    with pytest.raises(InputError) as found:
        read_all([path], size=500)
    assert str(found.value) == str(told.value)


def test_what_cannot_be_cut_is_whole(tmp_path):
    lines = [json.dumps({"id": f"n{n}", "response": "x", "dialogue": f"d{n // 3}"}) for n in range(30)]
    packed, table, plain = tmp_path / "a.jsonl.gz", tmp_path / "b.csv", tmp_path / "c.jsonl"
    packed.write_bytes(gzip.compress("\n".join(lines).encode()))
    table.write_text("id,response\n" + "".join(f'{n},"two\nlines"\n' for n in range(30)))
    plain.write_text("\n".join(lines))
    paths = [packed, table, plain]
    plan = plan_chunks(paths, HowToRead(), size=50)
    assert [chunk.file for chunk in plan.chunks if chunk.last is None] == [0, 1]
    assert Counter(chunk.file for chunk in plan.chunks)[2] > 5
    assert (
        Counter(chunk.file for chunk in plan_chunks(paths, HowToRead(), size=50, whole_dialogues=True).chunks)[2] == 1
    )
    assert read_all(paths, size=50)[0] == load(paths).turns


def test_every_chunk_belongs_to_one_shard(tmp_path):
    paths = [tmp_path / f"{name}.jsonl" for name in "abc"]
    for path in paths:
        path.write_text("".join(json.dumps({"id": f"{path.stem}{n}", "response": "x"}) + "\n" for n in range(50)))
    plan = plan_chunks(paths, HowToRead(), size=10**6, shards=7)
    assert [chunk for shard in plan.shards for chunk in shard] == list(plan.chunks)
    sizes = [sum(chunk.size for chunk in shard) for shard in plan.shards]
    assert max(sizes) - min(sizes) <= 2
    assert [chunk.number for chunk in plan.chunks] == list(range(len(plan.chunks)))
    assert len(plan_chunks(paths[:1], HowToRead(), shards=5000).shards) == 5000


def test_hashes_are_of_what_was_read(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"id": f"n{n}", "response": "x"}) + "\n" for n in range(50)))
    content = path.read_bytes()
    _, notes = read_all([path])
    assert notes.source_files[0].sha256 == hashlib.sha256(content).hexdigest() == load(path).files[0].sha256
    _, notes = read_all([path], size=len(content) // 2 + 5)
    cut = content.index(b"\n", len(content) // 2 + 4) + 1
    parts = [hashlib.sha256(part).digest() for part in (content[:cut], content[cut:])]
    assert notes.source_files[0].sha256 == hashlib.sha256(b"".join(parts)).hexdigest()
    assert whole_hash({(0, 0): "ab"}) == "ab"


def test_ids_that_stand_twice_are_found_within_and_across_chunks(tmp_path):
    path = tmp_path / "a.jsonl"
    names = [*map(str, range(20)), "3", *map(str, range(20, 30))]
    path.write_text("".join(json.dumps({"id": name, "response": "x"}) + "\n" for name in names))
    with pytest.raises(InputError, match=r"a\.jsonl:21: id '3' of system 'a' stands already at .*a\.jsonl:4; ids must"):
        read_all([path])
    with pytest.raises(InputError, match=r"a\.jsonl:21: .*stand already at .*a\.jsonl:4; ids must"):
        read_all([path], size=60)
    with pytest.raises(InputError, match=r"a\.jsonl:21: .*; of so many turns, --skip-invalid leaves out only those"):
        read_all([path], HowToRead(skip_invalid=True), size=60)
    path.write_text("".join(json.dumps({"id": name, "response": "x"}) + "\n" for name in names if name != "3"))
    with pytest.raises(InputError, match="given twice"):
        read_all([path, path], HowToRead(skip_invalid=True), size=60)


def test_two_files_with_one_system_in_an_understood_column(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(json.dumps({"id": f"{name}{n}", "response": "x", "model": "m"}) + "\n" for n in range(9))
        )
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    with pytest.raises(InputError) as expected:
        load(paths)
    with pytest.raises(InputError) as found:
        read_all(paths, size=100)
    assert str(found.value) == str(expected.value)


def test_seen_ids_are_bounded_and_find_a_file_given_twice():
    one, other = SeenIds(limit=100), SeenIds(limit=100)
    for number in range(5000):
        assert one.note("a", str(number), number) is None
        assert other.note("b", str(number), number) is None
    assert len(one.places) <= 100
    whole, twice = one.merged(other)
    assert len(whole.places) <= 100
    assert twice is None
    assert one.merged(one)[1] is not None
    exact = SeenIds()
    exact.note("a", "1", 5)
    assert exact.note("a", "1", 9) == 5
    assert exact.note("b", "1", 9) is None
