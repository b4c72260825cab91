"""Word vectors that are converted, and weights that are unpacked, are made once and then taken for whole: every call
of what makes them fails once, and files may grow no further."""

import errno
import io
import shutil
import zipfile
from itertools import count

import pytest

from dialogauge.encode import model_files
from dialogauge.encode.word_vectors import store
from dialogauge.errors import InputError
from dialogauge.files import LOCK, NEW
from tests.failing import failing, largest_file


@pytest.fixture
def convert(tmp_path):
    """Vectors of one value a word: of all files made of them, that of the words is the largest."""
    source = tmp_path / "words.txt"
    source.write_text("".join(f"w{number} {number}\n" for number in range(999)))
    return lambda folder: store.cached_store(source, folder)


@pytest.fixture
def unpack(tmp_path, monkeypatch):
    """From five parts of a small archive that is laid out as the published one."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in model_files.MPNET_FILES:
            archive.writestr(f"{model_files.MPNET}/{name}", name * 1000)
    parts = [tmp_path / f"part{number}" for number in range(5)]
    size = -(-len(packed.getvalue()) // 5)
    for number, part in enumerate(parts):
        part.write_bytes(packed.getvalue()[number * size : (number + 1) * size])
    monkeypatch.setattr(model_files, "mpnet_parts", lambda: parts)
    return model_files.mpnet_directory


def content(folder):
    """Of each visible folder, and of the files beside them."""
    files = [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    found = {}
    for path in files:
        if not path.parts[0].startswith("."):
            found.setdefault(path.parts[0], {})[path.name] = (folder / path).read_bytes()
    return found


class Making:
    """What is to be made in a cache that holds something else already, and what a killed process left."""

    def __init__(self, make, folder, damaged):
        self.make, self.before, self.tries = make, folder / "before", folder / "tries"
        make(self.before)
        self.whole = content(self.before)
        (made,) = (path for path in self.before.iterdir() if path.is_dir())
        self.sizes = {path.stat().st_size for path in made.iterdir()}
        if damaged:
            (made / store.ROWS).write_bytes(b"half")
        else:
            shutil.rmtree(self.before)
        for path in ("other/file", f".{made.name}.{'0' * 16}/{LOCK}", f".{made.name}.{'0' * 16}/{NEW}/half"):
            (self.before / path).parent.mkdir(parents=True, exist_ok=True)
            (self.before / path).touch()
        self.whole["other"] = {"file": b""}
        self.then = content(self.before)

    def fails(self, failure):
        """The error with which it is not made, and what `failure` gives. Nothing is half there, and whoever makes it
        next leaves it whole and nothing beside it."""
        folder = shutil.copytree(self.before, self.tries)
        said = None
        try:
            with failure as given:
                self.make(folder)
        except (OSError, InputError) as error:
            said = str(error)
            assert "\n" not in said
            found = content(folder)
            assert self.then.keys() <= found.keys() <= self.whole.keys()
            assert all(files in (self.whole[name], self.then.get(name)) for name, files in found.items())
        self.make(folder)
        assert content(folder) == self.whole
        assert not list(folder.glob(".*"))
        shutil.rmtree(folder)
        return said, given


@pytest.fixture(params=["vectors", "damaged vectors", "weights"])
def making(request, tmp_path):
    make = request.getfixturevalue("unpack" if request.param == "weights" else "convert")
    return Making(make, tmp_path, damaged=request.param.startswith("damaged"))


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES], ids=errno.errorcode.get)
def test_every_call_fails_once(making, code):
    """Some are of no consequence; where one is, the error is its own."""
    failures = 0
    for number in count(1):
        said, reached = making.fails(failing(number, code))
        failures += said is not None
        assert said is None or "made to fail" in said
        if not reached():
            break
    assert failures < number < 300
    assert failures > 5 or code == errno.EACCES  # then word vectors are converted for one process alone


def test_files_that_cannot_grow(making):
    """As on a disk that is full: up to the last byte of each file that is missing."""
    for size in {0, 1, 100, *(size - 1 for size in making.sizes)}:
        said, _ = making.fails(largest_file(size))
        assert "File too large" in said
