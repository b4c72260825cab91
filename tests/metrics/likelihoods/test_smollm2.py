"""With the real model."""

import pytest

from dialogauge.encode.causal.find import INSTALL, smollm2_at_hand
from tests.test_docs import ROOT, examples, printed, same

PAGE = ROOT / "docs" / "likelihoods.md"


@pytest.mark.slow
def test_the_page_shows_what_is_printed():
    if smollm2_at_hand() is None:
        pytest.skip(f"needs the weights of SmolLM2: {INSTALL}")
    [shown] = examples(PAGE)
    found = printed(shown["command"])
    assert same(shown["output"].rstrip("\n"), found.rstrip("\n")), found
