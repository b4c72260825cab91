"""What observability tools keep of conversations."""

import json

from dialogauge.corpus import Turn, load
from tests.corpus.files import refusal, write
from tests.corpus.samples_of_tools import texts

TEXTS = texts()


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
