"""Shards, measured one by one and merged, have the numbers of one run; what does not belong together is refused."""

import json
import os
import shutil

import numpy as np
import pytest

from dialogauge import InputError, evaluate, stream
from dialogauge.evaluation.kept.saved import load_run
from dialogauge.evaluation.options import RunOptions
from dialogauge.metrics.prepared import PlainMetric
from dialogauge.metrics.registry import BUILT_IN, parse_request
from dialogauge.scale.merge import merge_shards
from dialogauge.scale.packing import Unpacker
from dialogauge.scale.shard import ShardNumber, measure_shard, sha256_of
from dialogauge.studies.verify_run import verify_run
from tests.encode.models import build

LEXICAL = "bleu,rouge_l,meteor,distinct,length,echo,self_repetition,entropy"


def shards_of(files, metrics, count, folder, **options):
    made = []
    for number in range(1, count + 1):
        made.append(folder / f"{number}")
        measure_shard(stream(files), metrics, ShardNumber(number, count), made[-1], RunOptions(workers=1, **options))
    return made


def numbers(result):
    return [(s.system, s.metric, s.value, s.low, s.high, s.n, s.units, s.floor, s.signature) for s in result.scores]


def nearly(found, expected, tolerance=1e-12):
    assert [row[:2] + row[-1:] for row in found] == [row[:2] + row[-1:] for row in expected]
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.array(mine[2:-1], float), np.array(other[2:-1], float), tolerance, tolerance)


def test_seven_shards_have_the_numbers_of_one_run(files, tmp_path):
    whole = evaluate(stream(files), LEXICAL, workers=1)
    shards = shards_of(files, LEXICAL, 7, tmp_path)
    merged = merge_shards(shards)
    nearly(numbers(merged), numbers(whole))
    assert numbers(merge_shards(shards[::-1])) == numbers(merged)
    assert str(merged).replace("measured in shards, which keep no single turns", "") == str(whole).replace(
        "too many turns to keep", ""
    )
    assert merged.turns_to_frame().equals(whole.turns_to_frame())
    assert merged.files == whole.files
    assert merged.systems == whole.systems


def test_what_a_merged_run_does_not_keep_is_said(files, tmp_path):
    merged = merge_shards(shards_of(files, "length", 2, tmp_path))
    assert {caveat.code for caveat in merged.caveats} == {"in_shards", "unpaired"}
    run = merged.save(tmp_path / "run")
    said = "was measured in shards, which keep no measures of single turns"
    assert verify_run(run).underived == [f"every number: the run {said}"]
    with pytest.raises(InputError, match=f"{said}; compare the files themselves"):
        load_run(run)


NOT_BY_THEMSELVES = ("column", "judge", "pass_k")
"""They measure nothing without an option."""
LANGUAGE_MODELS = ("likelihood", "perplexity", "pmi", "fed", "fed_dialogue")


def in_parts(plain):
    """The metrics that can be measured in parts: of plain words, or of encoders and models."""
    known = {name: parse_request(name).metric for name in BUILT_IN if name not in NOT_BY_THEMSELVES}
    chosen = [name for name, metric in known.items() if isinstance(metric, PlainMetric) == plain]
    return [name for name in chosen if known[name].not_in_parts is None and name not in LANGUAGE_MODELS]


def test_every_metric_of_plain_words_can_be_measured_in_shards(files, tmp_path):
    metrics = ",".join(in_parts(plain=True))
    whole = evaluate(stream(files), metrics, workers=1)
    merged = merge_shards(shards_of(files, metrics, 2, tmp_path))
    nearly(numbers(merged), numbers(whole))


@pytest.mark.slow
def test_every_metric_of_encoders_and_models_can_be_measured_in_shards(files, tmp_path):
    """Their batches differ from shard to shard, and with them the sixth digit."""
    metrics, options = ",".join(in_parts(plain=False)), {"resamples": 20}
    assert len(in_parts(plain=False)) > 12
    whole = evaluate(stream(files), metrics, workers=1, **options)
    merged = merge_shards(shards_of(files, metrics, 2, tmp_path, **options))
    nearly(numbers(merged), numbers(whole), 1e-5)


def test_a_merged_run_is_kept_as_any_other(files, tmp_path):
    merged = merge_shards(shards_of(files, "rouge_l", 3, tmp_path))
    merged.save(tmp_path / "run")
    texts = list(stream(tmp_path / "run" / "texts.parquet").turns())
    assert [turn.response for turn in texts] == [turn.response for turn in stream(files).turns()]


@pytest.mark.slow
def test_more_shards_than_chunks(files, tmp_path, monkeypatch):
    monkeypatch.setattr("dialogauge.corpus.chunks.plan.CHUNK_BYTES", 10**9)
    whole = evaluate(stream(files), "length", workers=1)
    merged = merge_shards(shards_of(files, "length", 40, tmp_path))
    nearly(numbers(merged), numbers(whole))


@pytest.mark.slow
def test_default_metrics_and_learners_and_real_conversations(files, tmp_path):
    encoder = str(build("bert", tmp_path / "encoder"))
    real = tmp_path / "real.jsonl"
    real.write_text("".join(line for line in files[0].read_text().splitlines(True) if '"s"' in line))
    options = {"encoder": encoder, "cache": False, "resamples": 20, "real": str(real)}
    metrics = "bertscore[idf=true],fbd,prd,mmd,prdc,self_bleu"
    whole = evaluate(stream(files), metrics, workers=1, **options)
    merged = merge_shards(shards_of(files, metrics, 3, tmp_path, **options), cache=False)
    nearly(numbers(merged), numbers(whole), 1e-6)
    codes, of_whole = ({caveat.code for caveat in found.caveats} for found in (merged, whole))
    assert codes - of_whole == {"in_shards"}
    assert of_whole - codes == {"large_corpus"}
    assert [file.path for file in merged.files] == [*map(str, files), str(real)]


def test_copies_of_the_files_in_other_directories_are_the_same_files(files, tmp_path):
    together = merge_shards(shards_of(files, "length", 3, tmp_path))
    shards = []
    for number in (1, 2, 3):
        folder = tmp_path / f"machine {number}"
        folder.mkdir()
        copies = [shutil.copy(file, folder) for file in files]
        shards.append(folder / "shard")
        measure_shard(stream(copies), "length", ShardNumber(number, 3), shards[-1], RunOptions(workers=1))
    merged = merge_shards(shards)
    assert numbers(merged) == numbers(together)
    assert [file.path for file in merged.files] == [str(tmp_path / "machine 1" / file.name) for file in files]
    assert [file.sha256 for file in merged.files] == [file.sha256 for file in together.files]


@pytest.fixture
def two(files, tmp_path):
    return shards_of(files, "bleu,length", 2, tmp_path)


def test_missing_and_doubled_shards_are_named(files, two, tmp_path):
    with pytest.raises(InputError, match="of 2 shards there are 1; missing: 2"):
        merge_shards(two[:1])
    shutil.copytree(two[0], tmp_path / "copy")
    with pytest.raises(InputError, match=r"copy: is shard 1 of 2, and so is .*1; give each once"):
        merge_shards([two[0], tmp_path / "copy", two[1]])
    with pytest.raises(InputError, match="is no shard: expected a directory"):
        merge_shards([two[0], tmp_path])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metrics": "length"}, "other metrics"),
        ({"metrics": "bleu[lowercase=true],length"}, "other metrics"),
        ({"count": 3}, "another number of shards: 3, not 2"),
        ({"seed": 1}, "another seed, resamples or confidence: 1, not 0"),
        ({"systems": ["s"]}, "another choice of --systems"),
        (
            {"text": "!"},
            r"other files \(names, sizes or contents\): c\.jsonl \(\d+ bytes, \w{8}\), not c\.jsonl \(\d+ bytes",
        ),
        ({"order": "reversed"}, r"other files \(names, sizes or contents\): the same in another order$"),
    ],
)
def test_foreign_shards_are_refused(files, two, tmp_path, change, message):
    options = {name: value for name, value in change.items() if name in ("seed", "systems")}
    if "text" in change:
        files[2].write_text(files[2].read_text().replace('"response": "', f'"response": "{change["text"]}', 1))
    if "order" in change:
        files = files[::-1]
    other = tmp_path / "other"
    number = ShardNumber(2, change.get("count", 2))
    measure_shard(stream(files), change.get("metrics", "bleu,length"), number, other, RunOptions(workers=1, **options))
    with pytest.raises(InputError, match=f"other: is no shard of the run that .*1 is of: {message}"):
        merge_shards([two[0], other])


def test_shards_of_another_version_are_refused(two, monkeypatch):
    monkeypatch.setattr("dialogauge.scale.merge.__version__", "9.9")
    with pytest.raises(InputError, match=r"was made by dialogauge .*, and cannot be merged by 9\.9"):
        merge_shards(two)


def test_an_id_that_stands_in_two_shards_is_found(files, tmp_path, monkeypatch):
    monkeypatch.setattr("dialogauge.scale.shard.HEAD", 20)
    files[2].write_text(files[2].read_text() + files[0].read_text().splitlines()[4] + "\n")
    shards = shards_of(files, "length", 3, tmp_path)
    with pytest.raises(InputError, match=r"c\.jsonl:161: this turn's id and system stand already at .*a\.jsonl:5"):
        merge_shards(shards)
    files[0].unlink()
    with pytest.raises(InputError, match=r"stands twice, in .*a\.jsonl, bytes 0 to .* and in .*c\.jsonl"):
        merge_shards(shards)


def sum_up(shard):
    """As a shard that was written so."""
    files = [file for file in shard.iterdir() if file.name != "SHA256SUMS"]
    (shard / "SHA256SUMS").write_text("".join(f"{sha256_of(file)}  {file.name}\n" for file in files))


@pytest.mark.parametrize("name", ["shard.json", "arrays.npz", "turns.parquet", "SHA256SUMS"])
def test_damaged_shards_are_refused_with_their_path(two, name):
    whole = (two[1] / name).read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(20):
        start = int(rng.integers(0, len(whole)))
        changed = bytes([whole[start] ^ int(rng.integers(1, 256))])
        (two[1] / name).write_bytes(rng.choice([whole[:start], whole[:start] + changed + whole[start + 1 :]]))
        with pytest.raises(InputError, match=r"2: is not a whole shard"):
            merge_shards(two)
    (two[1] / name).unlink()
    with pytest.raises(InputError, match=r"2: is (not a whole|no) shard"):
        merge_shards(two)


def test_a_file_that_is_gone_with_its_sum_is_missed(two):
    (two[1] / "turns.parquet").unlink()
    sum_up(two[1])
    with pytest.raises(InputError, match="2: is not a whole shard"):
        merge_shards(two)


def test_no_class_but_ours_is_made(two):
    text = (two[1] / "shard.json").read_text()
    for wanted in (
        "subprocess:Popen",
        "dialogauge.metrics.registry:parse_request",
        "dialogauge.encode.encoders:Encoders",
        "dialogauge.__main__:start",
        "dialogauge.engines.make:EngineChoice",
    ):
        (two[1] / "shard.json").write_text(text.replace("dialogauge.metrics.prepared:Sums", wanted))
        sum_up(two[1])
        with pytest.raises(InputError, match=r"is not a whole shard: .*(no class of ours|no data class)"):
            merge_shards(two)


def test_a_class_is_not_called_but_where_it_is_a_named_tuple():
    packed = {"class": "dialogauge.evaluation.options:Settings", "items": [-1]}
    with pytest.raises(KeyError):
        Unpacker({}).unpack(packed)


def test_a_metric_that_is_none_is_refused(two):
    change(two[0], lambda record: record["requests"][0].update(metric={"path": "x"}))
    with pytest.raises(InputError, match="1: is not a whole shard: bleu is no metric"):
        merge_shards(two)


@pytest.mark.parametrize(
    "said", [{"settings": {"progress": True}}, {"settings": [1]}, {"signatures": {}}, {"shards": 10**9}, {"kept": []}]
)
def test_a_run_that_says_too_little_is_refused(two, said):
    change(two[1], lambda record: record["run"].update(said))
    with pytest.raises(InputError, match="2: is not a whole shard: it does not say what it is a shard of"):
        merge_shards(two)


@pytest.mark.parametrize(
    "how",
    [
        lambda record: record["requests"][0].pop("label"),
        lambda record: record["requests"][0].update(label="other"),
        lambda record: record.update(first={}),
        lambda record: record.update(first=["x"]),
        lambda record: record.update(remarks=["x"]),
        lambda record: record.update(remarks=7),
        lambda record: record.update(chunks=7),
        lambda record: record.update(chunks="x"),
        lambda record: record.pop("chunks"),
        lambda record: record.update(noted=None, choice=1),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(two, how):
    change(two[0], how)
    with pytest.raises(InputError, match="is not a whole shard"):
        merge_shards(two)


def test_a_pipe_in_place_of_a_file_is_not_waited_for(two):
    (two[1] / "turns.parquet").unlink()
    os.mkfifo(two[1] / "turns.parquet")
    with pytest.raises(InputError, match=r"2: is not a whole shard: turns\.parquet is not a plain file"):
        merge_shards(two)


def change(shard, how):
    record = json.loads((shard / "shard.json").read_text())
    how(record)
    (shard / "shard.json").write_text(json.dumps(record))
    sum_up(shard)


def test_shards_of_what_asks_endpoints_are_refused(files, tmp_path):
    judge = "judge[model=m,url=http://127.0.0.1:1/v1]"
    with pytest.raises(InputError, match="asks endpoints, and is not measured in shards"):
        measure_shard(stream(files), judge, ShardNumber(1, 2), tmp_path / "out", RunOptions(workers=1))
