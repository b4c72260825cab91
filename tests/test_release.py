"""What is released: the wheel and the sources, built as for PyPI, and the wheel used where nothing else of ours is."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("build")
ROOT = Path(__file__).resolve().parents[1]
SDIST = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"][
    "sdist"
]
ALWAYS = {"pyproject.toml", "README.md", "LICENSE", ".gitignore", "PKG-INFO"}
"""What an sdist has without being told."""

pytestmark = pytest.mark.slow  # it builds both


def tracked():
    if not (ROOT / ".git").exists():
        pytest.skip("what belongs to the project is known to git alone")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist, and the wheel made from it."""
    folder = tmp_path_factory.mktemp("dist")
    call = [sys.executable, "-W", "ignore", "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_wheel_has_all_of_the_package_and_nothing_else(built):
    (wheel,) = built.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    examples = {f"dialogauge/{name}" for name in tracked() if name.startswith("examples/")}
    assert names == {name.removeprefix("src/") for name in tracked() if name.startswith("src/")} | examples


def test_the_sources_have_all_that_is_listed_and_nothing_else(built):
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    listed = [path.removeprefix("/") for path in SDIST["include"]]
    expected = {name for name in tracked() for path in listed if name == path or name.startswith(f"{path}/")}
    assert names == expected | ALWAYS


def test_the_demo_runs_from_the_wheel(built, tmp_path):
    """In a fresh environment with the wheel, to which the packages that it needs are lent."""
    (wheel,) = built.glob("*.whl")
    venv.create(tmp_path / "env", with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(tmp_path / "env"), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", wheel], check=True)
    (site,) = (tmp_path / "env").glob("lib/python*/site-packages")
    lent = dict.fromkeys([sysconfig.get_path("purelib"), *(path for path in sys.path if "site-packages" in path)])
    (site / "lent.pth").write_text("\n".join(lent))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    program = tmp_path / "env" / "bin" / "dialogauge"
    where = "import dialogauge; print(dialogauge.__file__)"
    python = [tmp_path / "env" / "bin" / "python", "-c", where]
    for call, expected in (
        (python, str(site)),
        ([program, "demo", "--quiet"], "The system `good` was written to answer"),
    ):
        done = subprocess.run(call, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert (done.returncode, expected in done.stdout) == (0, True), done.stdout + done.stderr
