import gzip

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dialogauge.encode.static import open_static
from dialogauge.encode.word_vectors.files import blocks, layout_of
from dialogauge.errors import InputError
from tests.encode.vectors import WRITERS, word2vec_binary, word2vec_text

TWO = [(b"cat", [1.0, 2.0, 3.0]), (b"dog", [4.0, 5.0, 6.0])]
BINARY = word2vec_binary(TWO)


def read(path):
    layout = layout_of(path)
    found = list(blocks(path, layout))
    return layout, [word for words, _ in found for word in words], np.concatenate([values for _, values in found])


@st.composite
def entries(draw):
    dim = draw(st.integers(2, 6))
    word = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \n\ufeff"), min_size=1, max_size=8)
    vector = st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=dim, max_size=dim)
    return draw(st.lists(st.tuples(word.map(str.encode), vector), min_size=1, max_size=8, unique_by=lambda e: e[0]))


@pytest.mark.parametrize("form", WRITERS)
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given=entries())
def test_what_is_written_is_read(form, given, tmp_path):
    path = tmp_path / "vectors"
    if form.startswith("word2vec-"):  # first numbers whose bytes are letters could be words of a text
        assume(any(byte < 9 or byte > 0xF4 for byte in np.array(given[0][1], "<f4").tobytes()))
    path.write_bytes(WRITERS[form](given))
    layout, words, values = read(path)
    assert layout.format == {"word2vec-tool": "word2vec-binary"}.get(form, form.removesuffix(".gz"))
    assert words == [word.decode() for word, _ in given]
    assert np.array_equal(values, np.array([vector for _, vector in given], np.float32))


@pytest.mark.parametrize("form", WRITERS)
def test_more_than_one_block(form, tmp_path):
    generator = np.random.default_rng(1)
    given = [(b"w%d" % number, vector) for number, vector in enumerate(generator.normal(size=(3000, 100)))]
    path = tmp_path / "vectors"
    path.write_bytes(WRITERS[form](given))
    assert len(list(blocks(path, layout_of(path)))) > 1
    _, words, values = read(path)
    assert words == [f"w{number}" for number in range(3000)]
    assert np.array_equal(values, np.array([vector for _, vector in given], np.float32))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b". . . 1 2\nthe 3 4\n", [". . .", "the"]),
        (b"the 1 2\nat name@domain.com 3 4\n5 6 7\n", ["the", "at name@domain.com", "5"]),
        (b"a 1 2 \r\nb 3 4 \r\n\r\n", ["a", "b"]),
        (b"\xef\xbb\xbfa 1 2\nb 3 4", ["a", "b"]),
        (b"\xef\xbb\xbf2 2\na 1 2\nb 3 4\n\n\n", ["a", "b"]),
        (b"2 2\n\xc3\xa9 \xc3\xa9 1 2\nb +3 4e0\n", ["é é", "b"]),
        (b"a\xc2\xa0b 1 2\n\xc2\x85 3 4\n", ["a\xa0b", "\x85"]),
        (b"caf\xc3 1 2\n\xff\xfe 3 4\n", ["caf\ufffd", "\ufffd\ufffd"]),
        (b" 1 2\nb 3 4\n", ["", "b"]),
        (b"a 1\nb 2\n", ["a", "b"]),
        (b"nan 1 2\ninf 1 2\n", ["nan", "inf"]),
    ],
)
def test_odd_but_good(content, words, tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(content)
    layout, found, values = read(path)
    assert found == words
    assert values.shape == (len(words), layout.dim)


BAD = {
    "empty": (b"", None, "is empty; expected word vectors"),
    "blank": (b"\n \n", None, "is empty"),
    "prose": (b"Hello there\nyou\n", 1, "expected word vectors.*found 'Hello there'"),
    "tabs": (b"cat\t1\t2\n", 1, "with one space between them"),
    "json": (b'{"cat": [1, 2]}', 1, "expected word vectors"),
    "zip": (b"PK\x03\x04rest", None, "is a zip archive; unpack it first"),
    "fasttext": (b"\xba\x16\x4f\x2f\x0c\0\0\0", None, "use the .vec file"),
    "cut gzip": (gzip.compress(b"cat 1 2\n" * 50)[:-9], None, "broken gzip file"),
    "too few": (b"cat 1 2 3\ndog 1 2\nfox 1 2 3\n", 2, "expected a word and 3 values, found 2 values"),
    "too few at the end": (b"cat 1 2 3\ndog 1 2", 2, "expected a word and 3 values, found 2 values"),
    "too few first": (b"cat 1 2\ndog 1 2 3\nfox 1 2 3\n", 1, "found 2 values"),
    "too many": (b"cat 1 2 3\ndog 1 2 3 4\nfox 1 2 3\n", 2, "expected a word and 3 values, found 4 values"),
    "only a word": (b"cat 1 2 3\ndog\n", 2, "found 0 values"),
    "no number": (b"cat 1 2 3\ndog 1 x 3\nfox 1 2 3\n", 2, "expected a finite number, found 'x'"),
    "two numbers in one": (b"cat 1 2 3\ndog 1 2.5.1 3\n", 2, "found '2.5.1'"),
    "two spaces": (b"cat 1 2 3\ndog 1  3\n", 2, "expected a finite number, found ''"),
    "nan": (b"cat 1 2 3\ndog 1 nan 3\n", 2, "expected a finite number, found 'nan'"),
    "inf": (b"cat 1 2 3\ndog 1 -inf 3\n", 2, "found '-inf'"),
    "too large": (b"cat 1 2 3\ndog 1 2 1e39\n", 2, "found '1e39'"),
    "empty line": (b"cat 1 2 3\n\ndog 1 2 3\n", 2, "found an empty line"),
    "header only": (b"2 3\n", 1, "the header announces 2 words; the file ends after 0"),
    "header zero": (b"0 3\n", 1, "expected a header of the number of words"),
    "header no values": (b"3 0\ncat\n", 1, "expected a header"),
    "header too large": (b"3 99999999\ncat 1 2\n", 1, "expected a header"),
    "header not reached": (b"3 3\ncat 1 2 3\ndog 1 2 3\n", 3, "announces 3 words; the file ends after 2"),
    "more than the header says": (b"1 3\ncat 1 2 3\ndog 1 2 3\n", 3, "the header announces 1 word; found more"),
    "header, wrong first row": (b"2 3\nd\xc3\xa9 1 2\ncat 1 2 3\n", 2, "expected a word and 3 values, found 2"),
    "header, no number": (b"2 3\ncat 1 x 3\nd\xc3\xa9 1 2 3\n", 2, "found 'x'"),
    "binary cut": (BINARY[:-1], None, "announces 2 words; the file ends within number 2"),
    "binary cut in a word": (BINARY[:-14], None, "the file ends within number 2"),
    "binary with more": (BINARY + b"fox 123", None, "announces 2 words; found more"),
    "binary nan": (word2vec_binary([*TWO, (b"fox", [1.0, float("nan"), 3.0])]), None, "found nan for 'fox', number 3"),
    "binary inf": (word2vec_binary([(b"cat", [float("inf"), 0.0])]), None, "found inf for 'cat', number 1"),
    "binary without words": (b"9 2\ncat \0\0\0\0\0\0\0\0" + b"\1" * (1 << 17), None, "as number 2, found none"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file(case, tmp_path):
    content, line, message = BAD[case]
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        open_static(path, tmp_path / "converted")
    assert (caught.value.path, caught.value.line) == (path, line)
    left = [each for each in (tmp_path / "converted").iterdir() if each.is_dir()]
    assert left == []


def test_a_bad_line_in_a_later_block(tmp_path):
    lines = word2vec_text([(b"w%d" % number, [1.0] * 100) for number in range(6000)]).split(b"\n")
    lines[5432] = lines[5432].replace(b" 1.0", b" one", 1)
    path = tmp_path / "vectors.txt"
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(InputError, match="found 'one'") as caught:
        open_static(path, tmp_path / "converted")
    assert caught.value.line == 5433


def test_no_such_file_and_a_directory(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        open_static(tmp_path / "none.txt", tmp_path / "converted")
    with pytest.raises(InputError, match="is a directory; expected a file"):
        open_static(tmp_path, tmp_path / "converted")
