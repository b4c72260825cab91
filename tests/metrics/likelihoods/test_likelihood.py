import math

import numpy as np
import pytest

from dialogauge import Corpus, Turn, evaluate
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import InputError
from dialogauge.metrics.likelihoods.likelihood import Likelihood, Perplexity, Pmi, normalised
from tests.encode.causal.small import plainly
from tests.encode.models import transformers

TURNS = [
    Turn("0", "I 'm fine , thank you .", ("Hello , how are you today ?",)),
    Turn("1", "soup  and\nbread", ("What would you like ?", "", "to eat ?")),
    Turn("2", "你好 😀", ("né",)),
]


def score(turns, metric, encoders=None):
    ready = metric.prepare(Corpus(turns), encoders=encoders)
    return ready.metric.per_turn(ready.measure(turns)), ready


def opened(directory):
    from dialogauge.encode.causal.prompt import open_prompter

    lm = Encoders().language_model(str(directory))
    model = transformers.AutoModelForCausalLM.from_pretrained(directory).eval()
    return model, open_prompter(lm.files)._tokenizer


def test_by_hand(uniform):
    # Every token of a vocabulary of V has p = 1/V after anything: ln p = -ln V at each, so their mean is -ln V, the
    # perplexity V, and a context changes nothing.
    rows = transformers.AutoConfig.from_pretrained(uniform).vocab_size
    scores = evaluate(
        TURNS, [metric(model=str(uniform)) for metric in (Likelihood, Perplexity, Pmi)], cache=False
    ).scores
    assert [found.value for found in scores] == pytest.approx([-math.log(rows), rows, 0.0], abs=1e-3)


def test_norms_by_hand():
    # ln p rises by 6 over a reply of 4 tokens: by 6 / 4 for each, 6 / 2 by the root.
    assert [float(normalised(np.array(6.0), np.array(4.0), norm)) for norm in ("tokens", "root", "none")] == [1.5, 3, 6]


def test_equal_to_transformers(llama):
    model, tokenizer = opened(llama)
    texts = [("Hello , how are you today ?", TURNS[0].response), ("What would you like ?\nto eat ?", "soup and bread")]
    texts.append(("né", "你好 😀"))
    given = [plainly(model, tokenizer, *text) for text in texts]
    alone = [plainly(model, tokenizer, "", text) for _, text in texts]
    means = [log_p / tokens for log_p, tokens in given]
    asked = {"model": str(llama)}
    np.testing.assert_allclose(score(TURNS, Likelihood(**asked))[0], means, atol=1e-4)
    np.testing.assert_allclose(score(TURNS, Perplexity(**asked))[0], np.exp(np.negative(means)), rtol=1e-4)
    gains = [given[place][0] - alone[place][0] for place in range(3)]
    tokens = [count for _, count in given]
    np.testing.assert_allclose(score(TURNS, Pmi(**asked))[0], np.divide(gains, tokens), atol=1e-4)
    np.testing.assert_allclose(score(TURNS, Pmi(**asked, norm="root"))[0], np.divide(gains, np.sqrt(tokens)), atol=1e-3)
    np.testing.assert_allclose(
        score(TURNS, Likelihood(**asked, context=0))[0], [log_p / count for log_p, count in alone], atol=1e-4
    )


def test_perplexity_is_over_all_tokens(llama):
    found, ready = score(TURNS, Perplexity(model=str(llama)))
    rows = ready.measure(TURNS)
    whole = ready.metric.conclude(ready.metric.summarise(rows))[""]
    assert whole == pytest.approx(math.exp(-rows[:, 0].sum() / rows[:, 1].sum()))
    assert whole != pytest.approx(found.mean())


def test_only_the_last_utterances_count(llama):
    turns = [Turn("0", "yes", ("never", "mind", "soup ?")), Turn("1", "yes", ("soup ?",)), Turn("2", "yes", ("mind",))]
    found, _ = score(turns, Likelihood(model=str(llama), context=1))
    assert found[0] == found[1] != found[2]
    everything, _ = score(turns, Likelihood(model=str(llama)))
    assert everything[0] != everything[1]


def test_edges(llama):
    turns = [
        Turn("empty", "", ("a",)),
        Turn("blank", " \u200b\n", ("a",)),
        Turn("unasked", "yes", (" ", "")),
        Turn("long", "yes " * 10_000, ("a",)),  # leaves no room for its context
        Turn("talkative", "yes", ("soup " * 10_000,)),
        Turn("plain", "yes", ("a",)),
    ]
    for metric in (Likelihood, Perplexity, Pmi):
        found, ready = score(turns, metric(model=str(llama)))
        assert np.isnan(found).tolist() == [True, True, True, False, False, False]
        said = ready.caveats(ready.metric.summarise(ready.measure(turns)))
        assert [caveat.code for caveat in said] == ["cut_text", "cut_text"]
        assert "2 of 3 turns have a context longer than fits; its beginning is cut" in said[0].message
        assert "1 of 3 turns have a response longer than fits; its end is cut" in said[1].message


def test_undefined_turns_are_counted_and_contexts_asked_for(llama):
    turns = [*TURNS, Turn("3", "", ("a",)), Turn("4", "no context")]
    result = evaluate(turns, Likelihood(model=str(llama)), cache=False)
    assert result.scores[0].n == 3
    codes = {caveat.code for caveat in result.caveats}
    assert {"undefined_scores", "missing_input", "empty_responses"} <= codes
    assert evaluate(turns, Likelihood(model=str(llama), context=0), cache=False).scores[0].n == 4


def test_the_signature_says_what_could_change_the_number(llama):
    [scored] = evaluate(TURNS, Pmi(model=str(llama), context=2, norm="root"), cache=False).scores
    lm = Encoders().language_model(str(llama)).identity
    parts = f"pmi|lm:{lm}|maxlen:256|dtype:f32|format:lines|context:2|norm:root|"
    assert scored.signature.startswith(parts)


def test_odd_options_are_refused(llama):
    with pytest.raises(InputError, match="context is -1; expected a number of utterances, 0 or more"):
        Likelihood(context=-1)
    with pytest.raises(InputError, match="context is 0; expected a number of utterances, 1 or more"):
        Pmi(context=0)
    with pytest.raises(InputError, match="unknown norm of pmi 'words'"):
        Pmi(norm="words")
    with pytest.raises(InputError, match="no language model"):
        score(TURNS, Likelihood(model="nobody/nothing"))
