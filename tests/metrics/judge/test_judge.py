"""The metric as a whole, against an endpoint that does as it is told."""

import json
import math

import pytest

import dialogauge
from dialogauge.corpus import Corpus, Turn
from dialogauge.encode.encoders import Encoders
from dialogauge.endpoint.chat import EndpointError
from dialogauge.errors import InputError
from dialogauge.metrics.judge.prompt import open_prompt, shipped
from dialogauge.metrics.judge.replay import replayed_judge
from dialogauge.metrics.registry import parse_request
from tests.serving.scripted import Scripted, chat, error, refuses

TURNS = [Turn(str(i), "x" * i, (f"context {i}",), ("the reference",), dialogue=str(i // 3)) for i in range(1, 7)]


def shown(asked):
    return json.loads(asked.body["messages"][1]["content"])


def by_length(asked):
    """Scores of 1, 2, 3 … by the length of the reply."""
    return chat(f'{{"score": {min(5, len(shown(asked)["reply"]))}}}')


def prepared(server, options=""):
    return parse_request(f"judge[model=scripted,url={server.url}{options}]").metric.prepare(
        Corpus([]), encoders=Encoders()
    )


def scores(server, turns=TURNS, options=""):
    ready = prepared(server, options)
    return ready.measure(turns)[:, 0].tolist(), ready


def test_the_mean_of_what_is_answered():
    with Scripted(by_length) as server:
        values, ready = scores(server)
        assert values == [1, 2, 3, 4, 5, 5]
        assert float(ready.metric.conclude(ready.metric.summarise(ready.measure(TURNS)))[""]) == 20 / 6


@pytest.mark.parametrize(
    ("behaviour", "way", "value"),
    [
        (chat('{"score": 4}', logprobs={"4": math.log(0.5), "5": math.log(0.5)}), "logprobs/json", 4.5),
        (chat('{"score": 4}'), "samples/json", 4),
        (refuses("logprobs", chat('{"score": 4}')), "samples/json", 4),
        (refuses("response_format", chat("4")), "samples/parsed", 4),
        (
            refuses("response_format", chat("4", logprobs={"4": math.log(0.5), "5": math.log(0.5)})),
            "logprobs/parsed",
            4.5,
        ),
        (refuses("response_format", refuses("logprobs", chat("4"))), "samples/parsed", 4),
    ],
)
def test_the_way_is_found_once_and_signed(behaviour, way, value):
    with Scripted(behaviour) as server:
        values, ready = scores(server)
        assert values == [pytest.approx(value)] * 6
        assert f"|way:{way}|" in ready.signature
        asked = [body for body in server.bodies if "context 1" in body["messages"][1]["content"]]
        assert len(asked) == 1
        assert ("response_format" in asked[0], "logprobs" in asked[0]) == (way.endswith("json"), way.startswith("log"))


def test_an_endpoint_that_wants_the_other_name_of_the_limit():
    def newer(asked):
        if "max_tokens" in asked.body:
            return error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        return chat("3")

    with Scripted(newer) as server:
        assert scores(server)[0] == [3] * 6
        assert server.bodies[-1]["max_completion_tokens"] == 32


def test_an_endpoint_that_refuses_everything_is_an_error_and_is_asked_again_next_time():
    refusing = True
    with Scripted(lambda asked: error(400, "model is loading") if refusing else by_length(asked)) as server:
        encoders = Encoders()
        metric = parse_request(f"judge[model=scripted,url={server.url}]").metric
        with pytest.raises(EndpointError, match="400 model is loading"):
            metric.prepare(Corpus([]), encoders=encoders)
        refusing = False
        assert metric.prepare(Corpus([]), encoders=encoders).measure(TURNS)[:, 0].tolist() == [1, 2, 3, 4, 5, 5]


def test_what_cannot_be_read_is_undefined_and_counted():
    def sometimes(asked):
        return chat("Great reply!") if "context 2" in asked.text else by_length(asked)

    with Scripted(sometimes) as server:
        result = dialogauge.evaluate(TURNS, f"judge[model=scripted,url={server.url}]", cache=False)
    score = result.scores[0]
    assert (score.value, score.n) == ((1 + 3 + 4 + 5 + 5) / 5, 5)
    (said,) = [caveat.message for caveat in result.caveats if caveat.code == "undefined_scores"]
    assert "no value for 1 of 6 turns (the answer could not be read as a score" in said


def test_a_refused_turn_is_undefined_and_not_asked_again():
    with Scripted(lambda asked: error(400, "too long") if "context 2" in asked.text else by_length(asked)) as server:
        ready = prepared(server)
        for _ in range(2):
            values = ready.measure(TURNS)[:, 0]
            assert math.isnan(values[1])
            assert values[[0, 2]].tolist() == [1, 3]
        assert len(server.requests) == 7


def test_repeated_answers_are_averaged():
    def drawn(asked):
        seen = [body for body in server.bodies if body["messages"] == asked.body["messages"]]
        return chat(["3", "5", "what?"][(len(seen) - 1) % 3])

    with Scripted(drawn) as server:
        ready = prepared(server, ",samples=3,temperature=1,logprobs=false")
        rows = ready.measure(TURNS[:2])
        assert rows[:, 0].tolist() == [4, 4]
        assert [caveat.code for caveat in ready.caveats(ready.metric.summarise(rows))] == ["unread_answers"]
        assert "2 of 6 answers could not be read" in ready.caveats(ready.metric.summarise(rows))[0].message
        assert "|samples:3|temperature:1.0|" in ready.signature
    with pytest.raises(InputError, match="at temperature 0 are one"):
        parse_request("judge[samples=3]")


def test_other_models_and_fingerprints_are_said():
    def changing(asked):
        later = asked.number >= 4
        return chat("4", model="other" if later else "scripted", fingerprint="fp_2" if later else "fp_1")

    with Scripted(changing) as server:
        ready = prepared(server)
        found = {each.code: each.message for each in ready.caveats(ready.metric.summarise(ready.measure(TURNS)))}
        assert "|returned:scripted|fingerprint:fp_1|" in ready.signature
        assert "3 of 6 answers came from another model than scripted" in found["other_model"]
        assert "3 of 6 answers came from another version" in found["other_fingerprint"]
    with Scripted(chat("4", model="llama|3 [x]")) as server:
        ready = prepared(server)
        assert "|returned:llama_3__x_|" in ready.signature
        (caveat,) = ready.caveats(ready.metric.summarise(ready.measure(TURNS)))
        assert "was asked for scripted and says that llama_3__x_ answered" in caveat.message


def test_answers_that_come_without_logprobs_count_and_are_said():
    probable = chat("4", logprobs={"4": math.log(0.5), "5": math.log(0.5)})
    with Scripted(lambda asked: chat("4") if "context 1" in asked.text else probable) as server:
        values, ready = scores(server)
        assert values == [4, *[pytest.approx(4.5)] * 5]
        (caveat,) = ready.caveats(ready.metric.summarise(ready.measure(TURNS)))
        assert "1 of 6 answers came without the probabilities of tokens" in caveat.message


def test_pairs_are_asked_in_both_orders():
    """By a judge that prefers x, but has a liking for what stands first: then both orders make a half."""

    def choose(asked):
        first, second = shown(asked)["A"], shown(asked)["B"]
        if "x" * 5 in first + second:
            return chat("A")
        return chat("C" if first == second else "A" if "x" in first else "B")

    turns = [*TURNS[:2], TURNS[4], Turn("7", "the reference", ("c",), ("the reference",)), Turn("8", "y", ("c",))]
    with Scripted(choose) as server:
        ready = prepared(server, ",prompt=pairwise")
        rows = ready.measure(turns)
        assert rows[:4, 0].tolist() == [1, 1, 0.5, 0.5]
        assert math.isnan(rows[4, 0])
        assert ready.metric.bounds == (0, 1)
        pairs = [(shown(asked)["A"], shown(asked)["B"]) for asked in server.requests[1:]]
        assert {("x", "the reference"), ("the reference", "x")} <= {*pairs}
        (caveat,) = ready.caveats(ready.metric.summarise(rows))
        assert "in 1 of 4 pairs the choice turned" in caveat.message


def test_a_dialogue_is_judged_once_with_its_last_turn():
    with Scripted(lambda asked: chat(str(min(5, len(shown(asked)["dialogue"][-1]))))) as server:
        ready = prepared(server, ",prompt=dialogue/coherence")
        assert ready.metric.level == "dialogue"
        values = ready.measure(TURNS)[:, 0]
        # Dialogues 0 (turns 1 and 2), 1 (3 to 5) and 2 (turn 6).
        assert [value for value in values.tolist() if not math.isnan(value)] == [2, 5, 5]
        assert len(server.requests) == 4
        assert ["context 6", "xxxxxx"] in [shown(asked)["dialogue"] for asked in server.requests]


def test_edges():
    turns = [
        Turn("1", "", ("hi",)),
        Turn("2", "😀 你好", ("",)),
        Turn("3", "word " * 10_000, ("hi",)),
    ]
    with Scripted(chat("3")) as server:
        values, ready = scores(server, turns)
        assert values == [3, 3, 3]
        assert ready.measure([]).shape == (0, 7)
        assert not ready.usable(Turn("4", "no context"))
        assert shown(server.requests[-1])["reply"] in [turn.response for turn in turns]


def test_what_is_missing_is_said():
    with pytest.raises(InputError, match="lacks model=NAME"):
        dialogauge.evaluate(TURNS, "judge")
    with pytest.raises(InputError, match="lacks url="):
        dialogauge.evaluate(TURNS, "judge[model=x]")
    with pytest.raises(InputError, match=r"unknown prompt of judge 'coherense'; did you mean coherence"):
        dialogauge.evaluate(TURNS, "judge[model=x,url=http://localhost/v1,prompt=coherense]")


def test_prompts_of_ones_own(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text("scale: 0-3\nfacts: yes\n---\nRate it.\n")
    prompt = open_prompt(str(file))
    assert (prompt.scale, prompt.with_facts, prompt.text, prompt.bounds) == ((0, 3), True, "Rate it.", (0, 3))
    with Scripted(chat("0")) as server:
        values, ready = scores(server, options=f",prompt={file}")
        assert values == [0] * 6
        assert f"judge|prompt:mine.txt@{prompt.hash}|scale:0-3|" in ready.signature
        assert ready.metric.label == "judge[prompt=mine.txt,model=scripted]"
    file.write_text("Rate it.\n")
    assert open_prompt(str(file)).scale == (1, 5)
    assert open_prompt(str(file)).hash != prompt.hash
    for wrong in ("scale: 5\n---\nx", "colour: red\n---\nx", "kind: odd\n---\nx", "scale: 1-5\n---\n", ""):
        file.write_text(wrong)
        with pytest.raises(InputError, match="mine.txt"):
            open_prompt(str(file))


def test_every_prompt_that_comes_along_can_be_read_and_is_another():
    prompts = [open_prompt(name) for name in shipped()]
    assert len(prompts) == 18
    assert len({prompt.hash for prompt in prompts}) == 18
    for prompt in prompts:
        assert prompt.pairwise == prompt.name.startswith("pairwise/")
        assert (prompt.level == "dialogue") == prompt.name.startswith("dialogue/")
        assert prompt.with_facts == prompt.name.endswith("consistency")


def test_a_long_scale_is_asked_for_without_logprobs(tmp_path):
    file = tmp_path / "ten.txt"
    file.write_text("scale: 0-10\n---\nRate it.\n")
    with Scripted(chat("10", logprobs={"1": -0.1, "10": -2.0})) as server:
        values, ready = scores(server, options=f",prompt={file}")
        assert values == [10] * 6
        assert "|way:samples/json|" in ready.signature


def test_a_kept_run_is_derived_again_from_its_answers(tmp_path):
    with Scripted(by_length) as server:
        wanted = f"judge[prompt=coherence,model=scripted,url={server.url}]"
        result = dialogauge.evaluate(TURNS, wanted, cache=False)
        result.save(tmp_path / "run")
        count = len(server.requests)
    records = [json.loads(line) for line in (tmp_path / "run" / "answers.jsonl").open()]
    assert len(records) == count == 7
    metric = parse_request(result.samples[0].label).metric
    assert metric.url == ""
    ready = replayed_judge(metric, records)
    assert ready.signature == result.scores[0].signature
    assert ready.measure(TURNS)[:, 0].tolist() == [1, 2, 3, 4, 5, 5]
    with pytest.raises(InputError, match="does not hold the judge's answers"):
        replayed_judge(metric, records[1:])
    with pytest.raises(InputError, match="1 answer is not kept"):
        replayed_judge(metric, records[:-1]).measure(TURNS)


def test_a_study_of_agreement_holds_its_answers_and_limits_what_all_corpora_ask(tmp_path):
    rated = [Turn(str(i), "x" * (i % 5 + 1), (f"c {i}",), ratings={"overall": (i % 5, i % 4)}) for i in range(30)]
    other = [Turn(turn.id, turn.response, ("else",), ratings=turn.ratings) for turn in rated]
    with Scripted(by_length) as server:
        wanted = f"judge[model=scripted,url={server.url}]"
        corpora = {"one": Corpus(rated), "two": Corpus(other)}
        with pytest.raises(EndpointError, match="no more with --max-requests 33"):
            dialogauge.correlate(corpora, wanted, cache=False, max_requests=33)
        assert len(server.requests) == 33
        agreement = dialogauge.correlate(corpora, wanted, cache=False, level="turn")
        agreement.save(tmp_path / "run")
    lines = (tmp_path / "run" / "answers.jsonl").read_text().splitlines()
    # 30 contexts of the first corpus, five different replies to the one of the second, and one to find the way.
    assert len(lines) == len({*lines}) == 36
    assert agreement.row("judge[model=scripted]", corpus="one").spearman > 0.5
