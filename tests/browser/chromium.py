"""A real browser for the tests of HTML pages: a pinned build of Chromium's headless shell, in the virtual environment.

    python -m tests.browser.chromium    # installs it, once; `make setup` does this

The build comes from npm's package @sparticuz/chromium, which needs no root and none of the system's libraries; npm only
fetches it, none of its code is run. Where npm or the build's platform is missing, a browser on the PATH is taken.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHROMIUM = (
    "@sparticuz/chromium@147.0.0",
    "e1929e01041af2ea769adebbe6a4a2b73b4b75b42b95ff0129d0b99da79aa7ee"
    "4cbf5395d4e94974fa14f84242fe9e6c414254426378afeab9f8485a68e507a5",
)
AXE = (
    "axe-core@4.14.0",
    "f564d9c448ec67b6f5dd31fc24f99b576cfc0876e5f34ff6866dd73c41b82603"
    "5d40b2bcd480515e64b11df3003a44aa41e4714ffd1dc0d0f3d863a6df3ce971",
)
"""Packages of npm, and the sha512 of their tarballs."""
FOLDER = Path(sys.prefix) / "browser" / CHROMIUM[0].rpartition("@")[2]
AXE_SCRIPT = FOLDER / "axe.min.js"
NAMES = ("chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome")
WITHOUT = "DIALOGAUGE_NO_BROWSER"
UNFINISHED = ".unfinished-"
ADVICE = (
    "the tests of HTML pages need a browser; install npm and call `make setup`, or put one of these on the PATH: "
    f"{', '.join(NAMES)} (on Debian: apt-get install --no-install-recommends chromium-headless-shell); "
    f"to go without those tests: {WITHOUT}=1"
)
ARGUMENTS = ["--no-sandbox", "--no-zygote", "--disable-gpu", "--disable-dev-shm-usage", "--font-render-hinting=none"]
"""Containers have no user namespaces, no GPU and little shared memory."""
FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
{folders}  <cachedir>{cache}</cachedir>
  <alias><family>system-ui</family><prefer><family>Open Sans</family><family>DejaVu Sans</family></prefer></alias>
  <alias><family>sans-serif</family><prefer><family>Open Sans</family><family>DejaVu Sans</family></prefer></alias>
  <alias><family>serif</family><prefer><family>DejaVu Serif</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>
"""
"""Without a font Chromium dies at the first text; with its own fonts alone, a page looks the same on every machine."""


class NoBrowser(Exception):
    """Says what to do about it."""


@dataclass(frozen=True)
class Browser:
    """What playwright's `chromium.launch` needs to know."""

    executable: Path
    environment: dict[str, str] = field(default_factory=dict)

    def launch_options(self) -> dict[str, Any]:
        environment = {**os.environ, **self.environment}
        return {"executable_path": str(self.executable), "args": ARGUMENTS, "env": environment}


def find() -> Browser:
    """The pinned build, else one on the PATH."""
    if (FOLDER / "chromium").is_file():
        return Browser(FOLDER / "chromium", _environment(FOLDER))
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise NoBrowser(ADVICE)
    return Browser(Path(found))


def install() -> Browser:
    """Installs the pinned build where that can be done and has not been; whole or not at all."""
    suits = sys.platform == "linux" and platform.machine() == "x86_64"
    if suits and shutil.which("npm") and not FOLDER.is_dir():
        try:
            _install()
        except NoBrowser as error:
            if not any(map(shutil.which, NAMES)):
                raise
            print(f"{error}; the browser on the PATH is used", file=sys.stderr)
    return find()


def _install() -> None:
    """One process at a time; what a killed one left unfinished is removed."""
    import fcntl

    FOLDER.parent.mkdir(parents=True, exist_ok=True)
    with (FOLDER.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if FOLDER.is_dir():
            return
        for left in FOLDER.parent.glob(f"{UNFINISHED}*"):
            shutil.rmtree(left)
        print(f"Installing Chromium for tests of HTML pages into {FOLDER}, once: 70 MB to download, 0.2 GB on disk.")
        with tempfile.TemporaryDirectory(dir=FOLDER.parent, prefix=UNFINISHED) as name:
            whole = Path(name) / "whole"
            _unpack(whole, download=Path(name))
            _check(Browser(whole / "chromium", _environment(whole)))
            _write_fonts(whole, FOLDER)
            whole.rename(FOLDER)


def _unpack(folder: Path, download: Path) -> None:
    import brotli  # type: ignore[import-untyped]

    def inner(name: str) -> bytes:
        content: bytes = brotli.decompress(_member(package, f"package/bin/{name}.br"))
        return content

    folder.mkdir()
    (folder / "axe.min.js").write_bytes(_member(_pack(AXE, download), "package/axe.min.js"))
    package = _pack(CHROMIUM, download)
    _extract(inner("al2023.tar"), folder)
    _extract(inner("fonts.tar"), folder)
    (folder / "chromium").write_bytes(inner("chromium"))
    (folder / "chromium").chmod(0o755)
    _write_fonts(folder, folder)


def _pack(package: tuple[str, str], folder: Path) -> bytes:
    """The tarball of a package, as npm fetches it, if it is the one that is known."""
    name, expected = package
    call = ["npm", "pack", name, "--pack-destination", str(folder), "--silent"]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise NoBrowser(f"npm could not fetch {name}: {done.stderr.strip()}")
    content = (folder / done.stdout.split()[-1]).read_bytes()
    if hashlib.sha512(content).hexdigest() != expected:
        raise NoBrowser(f"what npm fetched as {name} is not the file that is known, and was not used")
    return content


def _member(tarball: bytes, name: str) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(tarball)) as archive:
        member = archive.extractfile(name)
        if member is None:
            raise NoBrowser(f"the package has no file {name}")
        return member.read()


def _extract(tarball: bytes, folder: Path) -> None:
    """Plain files only, file by file: older Pythons have no filter for `extractall`."""
    with tarfile.open(fileobj=io.BytesIO(tarball)) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                path = folder / member.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.read())


def _write_fonts(folder: Path, home: Path) -> None:
    """The list of fonts for a build that is to stand in `home`."""
    matplotlib = importlib.util.find_spec("matplotlib")  # comes with DejaVu, which has Greek, Arabic and Hebrew
    fonts = [home / "fonts"]
    if matplotlib and matplotlib.origin:
        fonts.append(Path(matplotlib.origin).parent / "mpl-data" / "fonts" / "ttf")
    folders = "".join(f"  <dir>{path}</dir>\n" for path in fonts)
    (folder / "fonts.conf").write_text(FONTS.format(folders=folders, cache=home / "font-cache"), encoding="utf-8")


def _environment(folder: Path) -> dict[str, str]:
    return {"LD_LIBRARY_PATH": str(folder / "lib"), "FONTCONFIG_FILE": str(folder / "fonts.conf")}


def _check(browser: Browser) -> None:
    call = [str(browser.executable), "--version"]
    done = subprocess.run(call, env={**os.environ, **browser.environment}, capture_output=True, text=True)
    if done.returncode:
        raise NoBrowser(f"the pinned Chromium does not start here: {done.stderr.strip()}")


if __name__ == "__main__":
    if os.environ.get(WITHOUT) == "1":
        print(f"{WITHOUT}=1: no browser is installed, and the tests of HTML pages are skipped", file=sys.stderr)
    else:
        try:
            install()
        except NoBrowser as error:
            sys.exit(f"{error}\n{ADVICE}" if str(error) != ADVICE else ADVICE)
