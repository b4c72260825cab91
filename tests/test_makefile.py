"""What make installs, and when: read from `make -n`, which prints commands and runs none."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROGRAM, TOOLS, SITE = "-e '.[neural,offline,plot]'", "-e '.[all,dev]'", "-e '.[docs]'"


@pytest.fixture
def clone(tmp_path):
    if not shutil.which("make"):
        pytest.skip("make is not installed")
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
        os.utime(tmp_path / name, (1000, 1000))
    return tmp_path


def commands(clone: Path, target: str) -> list[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    call = ["make", "-n", target]
    done = subprocess.run(call, cwd=clone, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def installs(clone: Path, target: str) -> list[str]:
    """What pip is told to install, command by command."""
    return [line.partition("constraints.txt ")[2] for line in commands(clone, target) if "pip" in line]


def test_the_demo_installs_the_program_alone_and_shows_progress(clone):
    torch, program = installs(clone, "demo")
    assert "torch==" in torch
    assert program == PROGRAM
    assert "quiet" not in (clone / "Makefile").read_text()


def test_the_tests_install_everything(clone):
    assert [each for each in installs(clone, "test") if each.startswith("-e")] == [PROGRAM, TOOLS]


def test_the_documentation_needs_no_tools_for_tests(clone):
    assert [each for each in installs(clone, "docs") if each.startswith("-e")] == [PROGRAM, SITE]


def test_no_test_is_left_out_of_ci(clone):
    for recipe in (ROOT / ".ci" / "run", ROOT / ".github" / "workflows" / "ci.yml"):
        called = [line.split()[-1] for line in recipe.read_text().splitlines() if "make test" in line]
        assert called == ["test", "test-slow", "test-serve", "test-scale"]
    runs = [line.rpartition(" -m ")[2] for target in called for line in commands(clone, target) if "pytest" in line]
    assert runs == ['"not slow and not serve and not scale"', "slow", "serve", "scale"]


def test_what_is_there_is_installed_again_when_versions_change(clone):
    (clone / ".venv").mkdir()
    for second, name in enumerate((".program-installed", ".tools-installed"), start=2000):
        (clone / ".venv" / name).touch()
        os.utime(clone / ".venv" / name, (second, second))
    assert installs(clone, "demo") == installs(clone, "test") == []
    os.utime(clone / "constraints.txt", (3000, 3000))
    assert PROGRAM in installs(clone, "demo")
    assert TOOLS in installs(clone, "test")
