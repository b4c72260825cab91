"""The examples in docs/formats.md are read by the reader under whose heading they stand."""

import re
from pathlib import Path

import pytest

from dialogauge.corpus import load
from dialogauge.corpus.readers.registry import READERS
from tests.corpus.files import write

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats.md"
SECTIONS = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
EXAMPLE = re.compile(r"^`([^`\n]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = {section.split(":")[0].split(",")[0]: EXAMPLE.findall(section) for section in SECTIONS}


def test_every_reader_has_its_section():
    named = [name for section in SECTIONS for name in section.partition(":")[0].split(", ")]
    assert set(READERS) == {name for name in named if name in READERS}


@pytest.mark.parametrize("reader", [name for name in EXAMPLES if EXAMPLES[name]])
def test_examples(tmp_path, reader):
    for name, content in EXAMPLES[reader]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        write(tmp_path / name, content)
    corpus = load(tmp_path if reader in ("grade", "text") else tmp_path / EXAMPLES[reader][0][0])
    assert len(corpus) >= 2 - (reader == "fed")
    assert {file.reader for file in corpus.files} == {reader}
    assert len(corpus.files) == len(EXAMPLES[reader])
    assert corpus.caveats == ()


def test_only_parquet_has_no_example():
    assert {name for name in READERS if not EXAMPLES.get(name)} == {"parquet", "tsv", "dataset"}
