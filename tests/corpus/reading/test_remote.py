"""Files in a store are read as if they were here, and nothing is asked of the network for files that are here."""

import gzip
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from dialogauge import InputError, evaluate, load, stream
from dialogauge.cli.main import main
from dialogauge.corpus.load import corpora_in
from dialogauge.corpus.reading.remote import RemotePath, _store, input_path
from tests.corpus.reading.s3 import s3_server

ROOT = Path(__file__).resolve().parents[3]
EVERYDAY = ROOT / "examples" / "everyday.jsonl"


def test_a_path_of_a_store():
    path = input_path("s3://logs/2026/a.jsonl.gz")
    assert isinstance(path, RemotePath)
    assert (str(path), path.name, str(path.parent)) == ("s3://logs/2026/a.jsonl.gz", "a.jsonl.gz", "s3://logs/2026")
    assert str(path.with_name("b.csv")) == "s3://logs/2026/b.csv"
    assert str(pickle.loads(pickle.dumps(path))) == str(input_path(path)) == str(path)
    assert path == input_path("s3://logs/2026/a.jsonl.gz") != input_path("gs://logs/2026/a.jsonl.gz")
    assert input_path("hdfs://name:9000/logs/a.jsonl")._place.__self__.name == "a.jsonl"
    assert type(input_path("a://b")) is type(input_path("a.jsonl")) is type(Path())


def test_a_file_of_a_store_is_one_corpus_and_keeps_its_address():
    assert [str(path) for path in corpora_in("s3://bucket/rated.jsonl")] == ["s3://bucket/rated.jsonl"]


@pytest.mark.parametrize("given", ["s3://", "s3://logs", "gs://logs/", "hdfs://name:9000"])
def test_a_bucket_alone_is_no_file(given):
    with pytest.raises(InputError, match="expected (s3|gs)://BUCKET/KEY|expected hdfs://HOST:PORT/PATH"):
        input_path(given)


WITHOUT_SOCKETS = """
import sys
opened = []
sys.addaudithook(lambda event, _: opened.append(event) if event.startswith("socket.") else None)
from dialogauge import evaluate, stream
from dialogauge.evaluation import measure
import dialogauge.evaluation.measure, dialogauge.corpus.chunks.plan
evaluate(stream(sys.argv[1]), "length,bleu", workers=1)
print(opened, "pyarrow.fs" in sys.modules)
"""


def test_files_that_are_here_open_no_socket():
    call = [sys.executable, "-c", WITHOUT_SOCKETS, str(EVERYDAY)]
    assert subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip() == "[] False"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with s3_server(tmp_path_factory.mktemp("s3")) as address:
        yield address


@pytest.fixture
def bucket(address, monkeypatch):
    """Puts files into a bucket, and says where they are."""
    from pyarrow import fs

    keys = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_EC2_METADATA_DISABLED": "true"}
    for name, value in (keys | {"AWS_ENDPOINT_URL": address}).items():
        monkeypatch.setenv(name, value)
    _store.cache_clear()
    host = address.removeprefix("http://")
    store = fs.S3FileSystem(endpoint_override=host, scheme="http", allow_bucket_creation=True)
    store.create_dir("talk")

    def put(name: str, content: bytes) -> str:
        with store.open_output_stream(f"talk/logs/{name}", compression=None) as file:
            file.write(content)
        return f"s3://talk/logs/{name}"

    yield put
    _store.cache_clear()


def packed(content: bytes, folder: Path) -> dict[str, bytes]:
    """The same turns in several formats."""
    frame = pd.read_json(EVERYDAY, lines=True)
    frame.to_parquet(folder / "frame.parquet", row_group_size=40)
    frame[["id", "system", "response"]].to_csv(folder / "frame.csv", index=False)
    return {
        "turns.jsonl": content,
        "turns.jsonl.gz": gzip.compress(content),
        "turns.parquet": (folder / "frame.parquet").read_bytes(),
        "turns.csv": (folder / "frame.csv").read_bytes(),
    }


@pytest.mark.scale
@pytest.mark.parametrize("name", ["turns.jsonl", "turns.jsonl.gz", "turns.parquet", "turns.csv"])
def test_the_same_turns_and_numbers_as_from_a_file(bucket, tmp_path, monkeypatch, name):
    content = packed(EVERYDAY.read_bytes(), tmp_path)[name]
    here = tmp_path / name
    here.write_bytes(content)
    there = bucket(name, content)
    mine, theirs = load(here), load(there)
    assert theirs.turns == mine.turns
    assert [(file.path, file.sha256) for file in theirs.files] == [(there, mine.files[0].sha256)]
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 50)
    monkeypatch.setattr("dialogauge.corpus.chunks.plan.CHUNK_BYTES", 15_000)
    for workers in (1, 2):
        expected = evaluate(stream(here), "distinct,length", workers=workers)
        found = evaluate(stream(there), "distinct,length", workers=workers)
        assert str(found) == str(expected)
        assert [(score.value, score.low) for score in found.scores] == [
            (score.value, score.low) for score in expected.scores
        ]
        assert [file.sha256 for file in found.files] == [file.sha256 for file in expected.files]


@pytest.mark.scale
def test_a_bad_line_is_named_with_its_line_in_the_whole_file(bucket, monkeypatch):
    lines = EVERYDAY.read_text().splitlines(keepends=True)
    lines[120] = '{"response": 5}\n'
    there = bucket("bad.jsonl", "".join(lines).encode())
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 50)
    monkeypatch.setattr("dialogauge.corpus.chunks.plan.CHUNK_BYTES", 15_000)
    with pytest.raises(InputError, match="^s3://talk/logs/bad.jsonl:121: "):
        evaluate(stream(there), "length", workers=2)


@pytest.mark.scale
def test_what_is_not_there(bucket, capsys):
    bucket("a.jsonl", EVERYDAY.read_bytes())
    with pytest.raises(InputError, match="^s3://talk/logs/b.jsonl: no such file; names are told apart by case"):
        load("s3://talk/logs/b.jsonl")
    with pytest.raises(InputError, match="no such file; there is no bucket walk"):
        load("s3://walk/logs/b.jsonl")
    with pytest.raises(InputError, match="is a directory; name the files in it"):
        load("s3://talk/logs")
    assert main(["score", "s3://walk/a.jsonl", "--metrics", "length"]) == 2
    assert "s3://walk/a.jsonl: no such file; there is no bucket walk" in capsys.readouterr().err
    assert main(["score", "s3://talk/logs/a.jsonl", "--metrics", "length", "--format", "json"]) == 0


@pytest.mark.scale
def test_keys_that_are_refused(tmp_path, bucket, monkeypatch):
    with s3_server(tmp_path, INITIAL_NO_AUTH_ACTION_COUNT="0") as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        _store.cache_clear()
        with pytest.raises(InputError, match="cannot be read: .*are the credentials right, and may they read it"):
            load("s3://talk/logs/a.jsonl")
    with pytest.raises(InputError, match="cannot be read: .*(connect|NETWORK_CONNECTION)"):
        load("s3://talk/logs/a.jsonl")


@pytest.mark.scale
@pytest.mark.skipif("JAVA_HOME" in os.environ, reason="Java is here")
def test_hdfs_without_java_says_what_it_needs():
    with pytest.raises(InputError, match="hdfs:// needs Java and Hadoop here") as raised:
        load("hdfs://name:9000/logs/a.jsonl")
    assert len(str(raised.value)) < 600


@pytest.mark.scale
def test_shards_of_a_file_in_a_store(bucket, tmp_path, capsys):
    there = bucket("shards.jsonl", EVERYDAY.read_bytes())
    measured = ["--metrics", "distinct,length"]
    for shard in ("1", "2"):
        assert main(["score", there, *measured, "--shard", f"{shard}/2", "--out", str(tmp_path / shard)]) == 0
    capsys.readouterr()
    assert main(["merge", str(tmp_path / "1"), str(tmp_path / "2"), "--out", str(tmp_path / "run")]) == 0
    merged = capsys.readouterr().out
    (tmp_path / "shards.jsonl").write_bytes(EVERYDAY.read_bytes())
    for shard in ("1", "2"):
        out = ["--shard", f"{shard}/2", "--out", str(tmp_path / f"here{shard}")]
        assert main(["score", str(tmp_path / "shards.jsonl"), *measured, *out]) == 0
    capsys.readouterr()
    assert main(["merge", str(tmp_path / "here1"), str(tmp_path / "here2"), "--out", str(tmp_path / "other")]) == 0
    here = capsys.readouterr().out.replace(str(tmp_path / "shards.jsonl"), there)
    assert merged.replace("/run", "/other") == here
