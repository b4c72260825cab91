"""Importing the package and asking for help stay light."""

import subprocess
import sys

import pytest

HELP = "from dialogauge.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass"
HEAVY = {"torch", "transformers", "ray", "matplotlib", "pandas", "scipy", "sklearn", "pyarrow"}


def modules_after(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stderr.split()}


@pytest.mark.parametrize(
    "code",
    [
        "import dialogauge",
        "from dialogauge import load, evaluate, Turn, Corpus",
        HELP,
        "from dialogauge.cli.main import main\nmain(['metrics'])",
    ],
)
def test_no_heavy_module_is_imported(code):
    assert not HEAVY & modules_after(code)


def test_importing_the_package_imports_nothing_but_itself():
    assert "numpy" not in modules_after("import dialogauge")


def test_asking_for_help_does_not_import_numpy():
    assert "numpy" not in modules_after(
        "from dialogauge.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass"
    )


def test_everything_in_all_is_there():
    import dialogauge

    for name in dialogauge.__all__:
        assert getattr(dialogauge, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = dialogauge.nothing
