"""dialogauge reproduce."""

import json

from dialogauge.cli.main import main
from tests.shared import shared


def run(capsys, *arguments):
    code = main(["reproduce", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def test_table_3(capsys):
    folder = shared("corpora/fbd_six")
    code, out, err = run(capsys, "table3", "--corpora", folder, "--metrics", "bleu,meteor,rouge_l", "--resamples", 20)
    assert code == 0
    assert "36 of 36 cells equal the paper's" in out
    for fault in ("this is not EmpatheticDialogues", "random mixtures", "answered other contexts"):
        assert fault in err


def test_table_5_as_json(capsys):
    folder = shared("corpora/fbd_six")
    code, out, _ = run(
        capsys, "table5", "--corpora", folder, "--metrics", "bleu", "--resamples", 20, "--format", "json"
    )
    assert code == 0
    assert len(json.loads(out)["cells"]) == 8


def test_faults(capsys):
    code, out, _ = run(capsys, "faults", "--corpora", shared("corpora/fbd_six"), "--only", "mixtures")
    assert code == 0
    assert "1350  1350" in out


def test_wrong_calls(capsys, tmp_path):
    code, out, err = run(capsys, "table7", "--corpora", tmp_path)
    assert (code, out) == (2, "")
    assert "unknown table or figure 'table7'; did you mean table" in err
    code, out, err = run(capsys, "table3", "--corpora", tmp_path)
    assert (code, out) == (2, "")
    assert "personam_annotation.json: no such file" in err
    code, out, err = run(capsys, "table3", "--corpora", tmp_path, "--plot", tmp_path / "x.png")
    assert (code, out) == (2, "")
    assert "--plot: table3 has no use for it" in err
    code, out, err = run(capsys, "table3", "--corpora", tmp_path, "--only", "mixtures")
    assert (code, out) == (2, "")
    assert "--only: table3 has no use for it" in err
    code, out, err = run(capsys, "table3", "--corpora", tmp_path, "--metrics", ",")
    assert (code, out) == (2, "")
    assert "--metrics: expected a name, found none" in err
    code, out, err = run(capsys, "figure1", "--corpora", tmp_path, "--plot", tmp_path / "x.txt")
    assert (code, out) == (2, "")
