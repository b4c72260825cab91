"""What hostile or odd data may cost: memory by limits of the system, time by ratios within one run."""

import csv
import gzip
import json
import subprocess
import sys
from time import process_time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialogauge import load

resource = pytest.importorskip("resource", reason="needs a system with limits for processes")

GIGABYTE = 10**9


def test_a_cell_costs_as_much_in_a_wide_table(tmp_path):
    """As many cells in 2,500 columns as in 500: names of columns were looked at anew in every row beyond 1,024."""

    def seconds(columns):
        path = tmp_path / f"{columns}.csv"
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["response", *(f"column {number}" for number in range(columns))])
            writer.writerows([["yes", *range(columns)]] * (100_000 // columns))
        start = process_time()
        assert len(load(path).turns) == 100_000 // columns
        return process_time() - start

    assert min(seconds(2500) for _ in range(2)) < 4 * min(seconds(500) for _ in range(2))


def many_lines(path):
    line = json.dumps({"response": "a " * 4000}).encode() + b"\n"
    with gzip.open(path, "wb") as file:
        for _ in range(150_000):
            file.write(line)


def one_line(path):
    with gzip.open(path, "wb") as file:
        file.write(b'[{"response": "a"},')
        for _ in range(1500):
            file.write(b" " * 10**6)
        file.write(b'{"response": "b"}]')


def long_texts(path):
    part = pa.table({"response": ["x" * 900_000, "y" * 900_000] * 10})
    with path.open("wb") as file, pq.ParquetWriter(file, part.schema, compression="zstd") as writer:
        for _ in range(80):
            writer.write_table(part)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("write", "name"), [(many_lines, "a.jsonl.gz"), (one_line, "a.json.gz"), (long_texts, "a.parquet")]
)
def test_bombs_are_refused_within_a_gigabyte(tmp_path, write, name):
    """Each unpacks to more than that from less than two megabytes."""
    write(tmp_path / name)
    assert (tmp_path / name).stat().st_size < 2_000_000
    done = subprocess.run(
        [sys.executable, "-m", "dialogauge", "score", name, "--metrics", "length", "-q"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (GIGABYTE, GIGABYTE)),
    )
    assert done.returncode == 2, done.stderr
    assert "--any-size reads it all the same" in done.stderr
