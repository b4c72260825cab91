"""Encoders in the languages that they were made for, and in others: what the caveat is about."""

import pytest

from dialogauge import Turn, evaluate
from dialogauge.encode.encoders import Encoders
from tests.encode.ten_scripts import REMARKS

CLEAR = 0.5
"""By how much more like each other remarks are that say the same."""


@pytest.mark.parametrize(("name", "known"), [("use", 7), ("minilm", 1)])
def test_what_says_the_same_is_clearly_nearer_in_known_languages_alone(name, known):
    """Each remark beside every other one's paraphrase. MiniLM cannot read Thai and Amharic at all, and takes much in
    other scripts for the same; so does the multilingual encoder in Hindi, Amharic and Greek."""
    if name == "use":
        pytest.importorskip("onnxruntime_extensions")
    turns = [
        Turn(f"{i}.{j}", said, context=(remark,), system=f"{language}: {'same' if i == j else 'other'}")
        for language, remarks in REMARKS.items()
        for i, (remark, _) in enumerate(remarks)
        for j, (_, said) in enumerate(remarks)
    ]
    result = evaluate(turns, "semantic_similarity[dull=false]", encoder=name, resamples=2)
    clear = set()
    for language in REMARKS:
        same, other = (result.score(f"{language}: {kind}", result.columns[0]).value for kind in ("same", "other"))
        assert (same is None) is (other is None) is (name == "minilm" and language in ("Thai", "Ethiopic script"))
        if same is not None and other is not None and same - other > CLEAR:
            clear.add(language)
    assert clear == Encoders().get(name).languages & REMARKS.keys()
    assert len(clear) == known < len(REMARKS) == 10
    assert any(caveat.code == "other_language" for caveat in result.caveats)
    assert not any(cell.best for row in result.to_table().rows for cell in row)
