"""How the browser for tests gets here: whole or not at all, and with a word on what to do where it cannot."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser import chromium

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A machine with no browser, and a PATH of its own."""
    monkeypatch.setattr(chromium, "FOLDER", tmp_path / "browser" / "1")
    monkeypatch.setattr(chromium.sys, "platform", "linux")
    monkeypatch.setattr(chromium.platform, "machine", lambda: "x86_64")
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


def command(folder: Path, name: str, script: str) -> Path:
    path = folder / "bin" / name
    path.write_text(f"#!{sys.executable}\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


WRONG_FILE = (
    "import sys; open(sys.argv[sys.argv.index('--pack-destination') + 1] + '/x.tgz', 'wb').write(b'x'); print('x.tgz')"
)


def test_without_npm_and_browser_the_error_says_what_to_do(bare):
    with pytest.raises(chromium.NoBrowser, match="npm .* chromium-headless-shell.* DIALOGAUGE_NO_BROWSER=1"):
        chromium.install()


def test_without_npm_a_browser_on_the_path_is_taken(bare):
    shell = command(bare, "chromium-headless-shell", "")
    assert chromium.install() == chromium.Browser(shell)


@pytest.mark.parametrize(
    ("npm", "said"), [(WRONG_FILE, "not the file that is known"), ("import sys; sys.exit('no net')", "no net")]
)
def test_a_download_that_fails_leaves_nothing_behind(bare, npm, said):
    """Nor does one that was killed, after the next."""
    command(bare, "npm", npm)
    (bare / "browser" / f"{chromium.UNFINISHED}x" / "whole").mkdir(parents=True)
    with pytest.raises(chromium.NoBrowser, match=said):
        chromium.install()
    assert [path.name for path in (bare / "browser").iterdir()] == ["lock"]


def test_a_download_that_fails_is_told_where_a_browser_is_on_the_path(bare, capsys):
    command(bare, "npm", "import sys; sys.exit('no net')")
    shell = command(bare, "chromium", "")
    assert chromium.install() == chromium.Browser(shell)
    assert "no net; the browser on the PATH is used" in capsys.readouterr().err


def test_what_is_there_is_not_fetched_again(bare):
    command(bare, "npm", "raise SystemExit('called')")
    chromium.FOLDER.mkdir(parents=True)
    (chromium.FOLDER / "chromium").touch()
    assert chromium.install().executable == chromium.FOLDER / "chromium"


def test_to_go_without_is_told():
    call = [sys.executable, "-m", "tests.browser.chromium"]
    environment = {**os.environ, chromium.WITHOUT: "1", "PATH": ""}
    done = subprocess.run(call, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (done.returncode, "are skipped" in done.stderr) == (0, True)
