"""pytest: tests that fail where a system got worse than a kept baseline run.

    def test_replies(dialogauge_gate):
        dialogauge_gate(replies_of_my_bot(), "meteor,bleu:0.5")

    pytest --dialogauge-keep baselines          # once: keeps the runs of these tests
    pytest --dialogauge-baseline baselines      # from then on: fails what got worse

pytest imports this file in every session of an environment that has dialogauge, so that it imports nothing of ours
before a test asks for the fixture.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pytest

if TYPE_CHECKING:
    from dialogauge.corpus.frames import CorpusLike
    from dialogauge.evaluation import Result
    from dialogauge.evaluation.gates import Gate
    from dialogauge.evaluation.options import RunKeywords

BASELINE, KEEP = "--dialogauge-baseline", "--dialogauge-keep"
NO_BASELINE = f"nothing to hold it against: pytest {KEEP} DIR keeps this run, pytest {BASELINE} DIR takes it"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("dialogauge", "dialogue systems against a kept run")
    explained = (
        f"a run of `dialogauge score --out`, or the folder that {KEEP} wrote: `dialogauge_gate` fails what is worse"
    )
    group.addoption(BASELINE, metavar="DIR", help=explained)
    group.addoption(KEEP, metavar="DIR", help="keep the run of each `dialogauge_gate` here, in place of that before")
    parser.addini("dialogauge_baseline", f"{BASELINE} where the command line has none, from the root folder")


@pytest.fixture
def dialogauge_gate(request: pytest.FixtureRequest, tmp_path: Path) -> PytestGate:
    """Call it with replies and metrics: the test fails where they are worse than those of the baseline run."""
    config = request.config
    here = config.invocation_params.dir
    given, kept, from_file = config.getoption(BASELINE), config.getoption(KEEP), config.getini("dialogauge_baseline")
    baseline = here / given if given else config.rootpath / from_file if from_file else None
    test = re.sub(r"[^\w.-]+", "-", f"{request.node.path.stem}-{request.node.name}").strip("-")
    return PytestGate(test, tmp_path, baseline, here / kept if kept else None)


class PytestGate:
    """What a test calls."""

    def __init__(self, test: str, folder: Path, baseline: Path | None, keep: Path | None) -> None:
        self._test = test
        self._folder = folder
        self._baseline = baseline
        self._keep = keep
        self._names: set[str] = set()

    def __call__(
        self,
        corpus: CorpusLike,
        if_worse: str,
        *,
        below: str = "",
        name: str | None = None,
        against: str | None = None,
        **options: Unpack[RunKeywords],
    ) -> Result:
        """Fails the test where a system is worse than that of its name in the baseline (or the only one there).

        Args:
            corpus: Whatever holds turns, as for `dialogauge.evaluate`.
            if_worse: Metrics as `--fail-if-worse` takes them, "meteor,bleu:0.5". What cannot be tested fails, too.
            below: Limits as `--fail-below` takes them, "bleu=20", which need no baseline.
            name: Of the run in the baseline's folder; by default that of the test.
            against: "A=B" where the system B stands against A of the baseline.
            **options: Those of `dialogauge.evaluate`.

        Returns:
            The scores. Without a baseline, and with nothing to keep, the test is skipped once limits are looked at.
        """
        from dialogauge.evaluation import evaluate
        from dialogauge.evaluation.gates import BELOW, IF_WORSE, below_limits, parse_gates

        name = self._new(name or self._test)
        how: dict[str, Any] = {name: options.get(name) for name in ("compat", "encoder", "dtype", "language")}
        guards, limits = parse_gates(IF_WORSE, if_worse, **how), parse_gates(BELOW, below, **how)
        result = evaluate(corpus, [gate.request for gate in (*guards, *limits)], **options)
        failures = below_limits(result.scores, limits)
        baseline = self._baseline_of(name)
        if baseline is None:
            print(result)
        else:
            failures = [*self._worse(result, baseline, guards, against), *failures]
        if self._keep:
            result.save(self._keep / name, overwrite=True)
        if failures:
            pytest.fail("\n".join(failures), pytrace=False)
        if baseline is None and not self._keep:
            pytest.skip(NO_BASELINE)
        return result

    def _new(self, name: str) -> str:
        from dialogauge.errors import InputError

        if name in (".", "..") or Path(name).name != name:
            raise InputError(f"dialogauge_gate: expected a name of one folder, found {name!r}")
        if name in self._names:
            raise InputError(
                f"dialogauge_gate: expected a name of its own for each call in a test, found {name!r} twice"
            )
        self._names.add(name)
        return name

    def _baseline_of(self, name: str) -> Path | None:
        """Where the run is that this one is held against."""
        from dialogauge.errors import InputError
        from dialogauge.evaluation.kept.saved import is_run

        if self._baseline is None:
            return None
        homes = [self._baseline, self._baseline / name]
        found = next(filter(is_run, homes), None)
        if found is None and self._keep != self._baseline:
            raise InputError(f"no run {name!r} there; pytest {KEEP} {self._baseline} writes it", self._baseline)
        return found

    def _worse(self, result: Result, baseline: Path, guards: list[Gate], against: str | None) -> list[str]:
        from dialogauge.evaluation import compare_runs
        from dialogauge.evaluation.gates import fell_behind, held_against_nothing

        now = result.save(self._folder / f"now-{len(self._names)}", texts=False)
        settings = result.settings
        comparison = compare_runs(
            [baseline, now],
            [gate.request for gate in guards],
            seed=settings.seed,
            resamples=settings.resamples,
            confidence=settings.confidence,
            against=None if against is None else [against],
        )
        comparison.caveats.extend(held_against_nothing(comparison, guards))
        print(comparison)  # pytest shows it below a test that failed
        return fell_behind(comparison, guards)
