"""What stands beside the code for people and services: workflows, templates, the citation, the site."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

import dialogauge
from dialogauge import encode, metrics

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[1]
YAML = sorted(path for pattern in ("*.yml", ".*.yaml", "*.cff", ".github/**/*.yml") for path in ROOT.glob(pattern))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def parsed(path: Path) -> dict:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", YAML, ids=lambda path: str(path.relative_to(ROOT)))
def test_yaml_parses(path):
    assert isinstance(parsed(path), dict)


def test_the_citation_is_of_this_version():
    citation = parsed(ROOT / "CITATION.cff")
    assert (citation["title"], citation["version"]) == (PROJECT["name"], dialogauge.__version__)
    assert (citation["abstract"], citation["license"]) == (PROJECT["description"], PROJECT["license"])
    assert citation["repository-code"] == PROJECT["urls"]["Homepage"]


def test_every_python_that_is_promised_is_tested():
    workflow = ROOT / ".github" / "workflows" / "ci.yml"
    if not workflow.is_file():
        pytest.skip("the sources of a release come without workflows")
    promised = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if line.startswith("Programming Language")]
    assert parsed(workflow)["jobs"]["test"]["strategy"]["matrix"]["python"] == promised


def test_every_public_name_has_its_place_in_the_reference():
    pages = sorted((ROOT / "docs" / "api").glob("*.md"))
    named = [name for page in pages for name in re.findall(r"(?m)^::: \S+\.(\w+)$", page.read_text("utf-8"))]
    assert {*dialogauge.__all__, *metrics.__all__, *encode.__all__} - set(named) == {"__version__"}
    assert len(named) == len(set(named))


def test_names_in_the_reference_are_not_taken_for_modules():
    """mkdocstrings reads `from dialogauge.corpus import load` as the module `corpus/load.py`, not its function."""
    start = Path(dialogauge.__file__)
    for node in ast.walk(ast.parse(start.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("dialogauge."):
            home = start.parents[1].joinpath(*str(node.module).split("."))
            assert [name.name for name in node.names if (home / f"{name.name}.py").exists()] == []


def test_the_list_of_pages_has_them_all():
    docs = ROOT / "docs"
    listed = set(re.findall(r"\]\(([\w/-]+\.md)\)", (docs / "README.md").read_text("utf-8")))
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    cards = {page for page in pages if page.startswith("metrics/")} - {"metrics/README.md"}
    assert listed == pages - cards - {"README.md"}


def test_the_large_gauge_is_a_package_of_its_own():
    """It needs this one, and this one's wheel and sources come without it."""
    folder = ROOT / "models" / "gauge-large"
    if not folder.is_dir():
        pytest.skip("the sources of a release come without the large model")
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (project["name"], project["version"]) == ("dialogauge-gauge-large", dialogauge.__version__)
    assert project["dependencies"] == ["dialogauge[mpnet]"]
    built = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert built["wheel"]["packages"] == ["src/dialogauge"]
    assert not [path for path in built["sdist"]["include"] if path.startswith("/models")]


def test_all_weights_together_are_small():
    weights = [path for folder in ("src", "models") for path in (ROOT / folder).rglob("*.safetensors")]
    assert weights
    assert sum(path.stat().st_size for path in weights) < 10_000_000
