"""A damaged file gives turns or an `InputError`, never another exception."""

import gzip
import io
import json
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialogauge.corpus import load
from dialogauge.corpus.readers.registry import READERS
from dialogauge.errors import InputError
from tests.corpus.mutate import mutate

CASES = 300
TURN = {
    "id": 1,
    "context": [{"role": "user", "content": [{"type": "text", "text": "hé"}]}],
    "response": "a \U0001f600",
    "references": ["b", "c"],
    "ratings": {"d": [1, None, "N/A"]},
    "extra": {"k": 1.5e3},
}


def parquet():
    columns = {
        "id": ["a", "b", "c"],
        "response": ["x", "y", "z"],
        "context": [["p", "q"], [], None],
        "ratings": [{"d": [1.0]}, None, {"d": [2.0, 3.0]}],
        "n": [1, 2, 3],
    }
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


SEEDS = {
    "jsonl": "".join(json.dumps({**TURN, "id": n}, ensure_ascii=n % 2 == 0) + "\n" for n in range(4)),
    "csv": 'id,context,response,ratings.d,ratings,n\n1,"[""a"", ""b""]","x, ""y""",3,,0.5\n2,a,é,"[1, 2]","{}",\n',
    "tsv": 'id\tcontext\tresponse\tratings.d\textra\n1\t["a"]\tx\t3\t{"k": 1}\n2\ta\t"é\n"\tN/A\t\n',
    "fbd": '{"src": "a", "refs": ["b"], "hyps": ["c", "d"], "human_scores": [[1, 2], [3.5, null]]}\n' * 3,
    "conversations": '{"dialogue": 1, "utterances": ["a", "b", "é"], "facts": ["f"]}\n'
    '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], "id": "s"}\n',
    "dailydialog": "a __eou__ é __eou__ c __eou__\nd __eou__ e __eou__\n",
    "parlai": "1 your persona: a\n2 partner's persona: b\n3 hé\tc\n4 d\te\t\tf|e\n1 __SILENCE__\tg\n2 h\ti\n",
    "parallel": "é\nb\nc\n",
    "parquet": parquet(),
    "gzip": gzip.compress(b'{"response": "a"}\n{"response": "b"}\n' * 50, mtime=0),
}


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


@pytest.mark.parametrize("name", SEEDS)
def test_damaged_files(tmp_path, name):
    content = SEEDS[name] if isinstance(SEEDS[name], bytes) else SEEDS[name].encode()
    # In a binary format several changes at once never get past its frame.
    most = 1 if name in ("parquet", "gzip") else 8
    random = Random(name)
    path = tmp_path / "src-a.txt"
    if name == "parallel":
        (tmp_path / "tgt-a.txt").write_bytes(content)
        (tmp_path / "per-a.txt").write_bytes(b"p</s>q\np</s>q\nr\n")
    outcomes = []
    for case in range(CASES):
        path.write_bytes(mutate(content, random, most))
        reader = name if case % 2 and name in READERS else None
        outcomes.append(outcome(path, reader=reader, skip_invalid=case % 3 == 0))
    assert all(text.isprintable() for text in outcomes)
    assert 5 < outcomes.count("turns") < CASES - 5
