"""What observability tools keep of conversations."""

import json

import pytest

from dialogauge.corpus import Turn, load
from tests.corpus import samples_of_forms
from tests.corpus.files import refusal, write, write_lines
from tests.corpus.samples_of_tools import texts

TEXTS, FORMS = texts(), samples_of_forms.texts()


def test_open_telemetry(tmp_path):
    """A call of a tool is nobody's words; the span that ran it has no reply."""
    for text in (TEXTS["open_telemetry"], json.dumps(json.loads(TEXTS["open_telemetry"]), indent=1)):
        corpus = load(write(tmp_path / "spans.json", text))
        assert corpus.files[0].reader == "open_telemetry"
        facts = ("Be kind.", "21 degrees")
        assert corpus.turns == [Turn("s1", "yes, é", ("is it warm?",), system="m1", dialogue="c1", facts=facts)]
        assert "1 span without a reply left out" in str(corpus.caveats)


def test_spans_of_a_console_exporter(tmp_path):
    said = {"gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "yes"}]}]}
    spans = [{"name": "chat", "context": {"trace_id": "t", "span_id": f"s{n}"}, "attributes": said} for n in range(2)]
    corpus = load(write(tmp_path / "spans.jsonl", "".join(json.dumps(span) + "\n" for span in spans)))
    assert [(turn.id, turn.response, turn.system) for turn in corpus] == [
        ("s0", "yes", "spans"),
        ("s1", "yes", "spans"),
    ]


def test_events_of_spans(tmp_path):
    """The body of an event in its attributes, as JSON in one of them, and all messages as JSON in two events."""
    corpus = load(write(tmp_path / "spans.json", FORMS["open_telemetry events"]))
    assert corpus.files[0].reader == "open_telemetry"
    asked, facts = ("is it warm?",), ("Be kind.", "21 degrees")
    assert corpus.turns == [
        Turn("s1", "yes, é", asked, system="m1", dialogue="c1"),
        Turn("s2", "yes", asked, system="m1", dialogue="c1", facts=facts),
        Turn("s3", "hello", ("hi",), system="m1", dialogue="c1", facts=facts[:1]),
    ]
    assert "1 span without a reply left out" in str(corpus.caveats)


def test_log_records(tmp_path):
    """Two choices for one prompt; a span that is not in the file; one span without a reply, one record that is no
    message. Where the log records come first, too."""
    lines = FORMS["open_telemetry logs"].splitlines()
    facts = ("Be kind.", "21 degrees")
    known = {"system": "m1", "dialogue": "c1", "facts": facts}
    for order in (lines, lines[::-1]):
        corpus = load(write(tmp_path / "spans.jsonl", "\n".join(order)))
        assert corpus.turns == [
            Turn("s1", "yes, é", ("is it warm?",), **known),
            Turn("s1#2", "yes", ("is it warm?",), **known),
            Turn("s3", "hello", ("hi",), system="spans"),
        ]
        assert [caveat.code for caveat in corpus.caveats] == ["without_reply", "other_logs"]
        assert "1 span without a reply left out" in corpus.caveats[0].message
        assert "1 log record without a message left out" in corpus.caveats[1].message


def test_log_records_of_a_console_exporter(tmp_path):
    """Attributes and bodies are objects, and the name of the event is an attribute in older SDKs."""
    asked = {"body": {"content": [{"type": "text", "text": "hi"}]}, "attributes": {"event.name": "gen_ai.user.message"}}
    replied = {"body": {"index": 0, "message": {"content": "hello"}}, "event_name": "gen_ai.choice", "attributes": {}}
    records = [{**each, "trace_id": "0xt", "span_id": "0x1f"} for each in (asked, replied)]
    (turn,) = load(write_lines(tmp_path / "logs.jsonl", *records))
    assert turn == Turn("0x1f", "hello", ("hi",), system="logs")


def test_events_of_other_names(tmp_path):
    """Also where a name is no text."""
    choice = {"name": "gen_ai.choice", "attributes": {"message": '[{"text": "hello"}]', "index": 0}}
    events = [{"name": "exception", "attributes": {}}, {"name": ["odd"], "attributes": None}, choice]
    span = {"spanId": "s1", "attributes": {}, "events": events}
    assert load(write_lines(tmp_path / "spans.jsonl", span)).turns == [Turn("s1", "hello", (), system="spans")]


def test_messages_in_a_span_and_in_log_records(tmp_path):
    """What the span itself holds is not read twice."""
    said = {"gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "yes"}]}]}
    span = {"name": "chat", "context": {"span_id": "s1"}, "attributes": said}
    log = {"body": {"message": {"content": "yes"}}, "event_name": "gen_ai.choice", "span_id": "s1", "attributes": {}}
    assert [turn.id for turn in load(write_lines(tmp_path / "spans.jsonl", span, log))] == ["s1"]


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"span_id": "0x0"}, ":1: gen_ai.choice: expected a log record that names its span, found none"),
        ({"body": [1]}, ":1: gen_ai.choice: expected an object with content, found a list of 1 number"),
        ({"body": {"index": "x"}}, ":1: index: expected a whole number, found the text 'x'"),
        (
            {"body": {"message": {"content": 3}}},
            ":1: gen_ai.choice: expected content that is text or a list of parts, found the number 3",
        ),
    ],
)
def test_bad_log_records(tmp_path, event, message):
    log = {"body": {}, "event_name": "gen_ai.choice", "span_id": "s1", "attributes": {}, **event}
    assert refusal(write_lines(tmp_path / "logs.jsonl", log)) == message


def test_a_session_of_langfuse(tmp_path):
    """Traces in the order of their times, each with what was said before in the session."""
    corpus = load(write(tmp_path / "session.json", TEXTS["langfuse"]))
    assert corpus.files[0].reader == "langfuse"
    assert corpus.turns == [
        Turn("t1", "yes é", ("is it warm?",), system="bot", dialogue="session-1"),
        Turn(
            "t2",
            "rain",
            ("is it warm?", "yes é", "and tomorrow?"),
            system="bot",
            dialogue="session-1",
            extra={"helpful": 0.5},
        ),
    ]
    assert "1 trace without a reply left out" in str(corpus.caveats)


def test_a_trace_of_langfuse(tmp_path):
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
        {"role": "user", "content": "is it warm?"},
    ]
    output = {"messages": [*messages, {"role": "assistant", "content": [{"type": "text", "text": "yes"}]}]}
    observed = [{"type": "SPAN", "model": None}, {"type": "GENERATION", "model": "m1"}]
    trace = {"id": "t1", "name": "bot", "input": {"messages": messages}, "output": output, "observations": observed}
    corpus = load(write(tmp_path / "trace.json", json.dumps(trace)))
    assert corpus.turns == [Turn("t1", "yes", ("hi", "hello", "is it warm?"), system="m1", facts=("Be kind.",))]
    trace["output"] = {"a": 1, "b": 2}
    path = write(tmp_path / "trace.json", json.dumps(trace))
    assert refusal(path) == ":1: output: expected text or chat messages, found an object with the fields 'a', 'b'"


def test_only_generations_among_observations_of_langfuse_are_replies(tmp_path):
    said = {"input": [{"role": "user", "content": "hi"}], "output": {"role": "assistant", "content": "hello"}}
    found = {"id": "o2", "traceId": "t", "type": "RETRIEVER", "name": "look", "input": "hi", "output": "a document"}
    generation = {"id": "o1", "traceId": "t", "type": "GENERATION", "name": "chat", "model": "m1", **said}
    corpus = load(write_lines(tmp_path / "observations.jsonl", generation, found))
    assert corpus.turns == [Turn("o1", "hello", ("hi",), system="m1")]
    assert "1 trace without a reply left out" in str(corpus.caveats)


@pytest.mark.parametrize(
    "given",
    [
        {"args": ["hi"], "kwargs": {}},
        {"args": [[{"role": "user", "content": "hi"}]], "kwargs": {"user": "ann"}},
        {"args": [], "kwargs": {"question": "hi"}},
    ],
)
def test_calls_that_langfuse_observed(tmp_path, given):
    trace = {"id": "t1", "name": "bot", "projectId": "p", "input": given, "output": "hello"}
    assert load(write_lines(tmp_path / "t.jsonl", trace)).turns == [Turn("t1", "hello", ("hi",), system="bot")]


@pytest.mark.parametrize("args", [["ann", "hi"], None, 3])
def test_calls_that_do_not_tell_what_was_asked(tmp_path, args):
    trace = {"id": "t1", "projectId": "p", "input": {"args": args, "kwargs": {}}, "output": "hello"}
    assert refusal(write_lines(tmp_path / "t.jsonl", trace)).startswith(":1: input: expected text or chat messages")


def test_spans_of_other_conventions_are_said_to_have_no_reply(tmp_path):
    attributes = {"gen_ai.prompt.0.content": "hi", "gen_ai.completion.0.content": "hello"}
    path = write_lines(tmp_path / "spans.jsonl", {"spanId": "s1", "attributes": attributes})
    assert refusal(path) == ": expected turns, found none: 1 span without a reply left out"
