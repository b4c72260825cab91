"""`Result.log_to`, with MLflow's files and W&B's offline runs: what is there afterwards is read back."""

import json
import warnings

import pytest

import dialogauge

TURNS = [
    {"response": "fine, thanks", "references": ["fine"], "system": "gpt/4"},
    {"response": "", "references": ["so it is"], "system": "gpt/4"},
    {"response": "so it is", "references": ["so it is"], "system": "gpt/4"},
]
SETTINGS = {"dialogauge.version": dialogauge.__version__, "dialogauge.seed": 0, "dialogauge.resamples": 50}


@pytest.fixture(scope="module")
def result():
    return dialogauge.evaluate(TURNS, "bleu[lowercase=true],length", resamples=50)


def values_of(result):
    scores = [(f"{score.system}/{score.metric}", score) for score in result.scores]
    ends = [(f"{name}.{end}", getattr(score, end)) for name, score in scores for end in ("low", "high")]
    return {**{name: score.value for name, score in scores}, **dict(ends)}


def test_mlflow(result, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own, of what it imports
        mlflow = pytest.importorskip("mlflow")
        mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
        with mlflow.start_run() as run:
            result.log_to("mlflow", step=3)
        kept = mlflow.get_run(run.info.run_id)
        history = mlflow.MlflowClient().get_metric_history(run.info.run_id, "gpt/4/length")
        document = json.loads(mlflow.artifacts.load_text(f"{run.info.artifact_uri}/dialogauge/scores.json"))
    expected = {
        name.replace("[lowercase=true]", "_lowercase_true_"): value for name, value in values_of(result).items()
    }
    assert kept.data.metrics == pytest.approx(expected)
    assert [(each.step, each.value) for each in history] == [(3, 2.0)]
    assert kept.data.tags.items() >= {name: str(value) for name, value in SETTINGS.items()}.items()
    assert kept.data.tags["dialogauge.signature.length"].startswith("length|")
    assert document == json.loads(result.render("json"))


def test_wandb(result, tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    with pytest.raises(dialogauge.InputError, match="no run is open"):
        result.log_to("wandb")
    try:
        with wandb.init(project="replies", mode="offline", dir=tmp_path) as run:
            result.log_to("wandb", step=3)
            run.log({"loss": 0.5}, step=4)
            summary, config = dict(run.summary), dict(run.config)
    finally:
        wandb.teardown()  # else this process never looks at its variables again
    table = summary.pop("dialogauge/scores")
    assert {name: value for name, value in summary.items() if not name.startswith("_")} == values_of(result)
    assert summary["_step"] == 3  # that of the loss is written when its step is over
    assert config.items() >= SETTINGS.items()
    written = json.loads(next(tmp_path.glob("**/*.table.json")).read_text())
    records = [dict(zip(written["columns"], row, strict=True)) for row in written["data"]]
    assert records == result.to_records()
    assert table["nrows"] == len(records)


def test_what_cannot_be_logged_is_refused(result, monkeypatch):
    with pytest.raises(dialogauge.InputError, match="unknown tracker 'mlfow'; did you mean mlflow"):
        result.log_to("mlfow")
    monkeypatch.setitem(__import__("sys").modules, "wandb", None)
    with pytest.raises(dialogauge.MissingPackage, match=r"pip install 'dialogauge\[wandb\]'"):
        result.log_to("wandb")
