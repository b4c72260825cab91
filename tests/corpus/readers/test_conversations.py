import pytest

from dialogauge.corpus import Turn, load
from tests.corpus.files import refusal, write, write_lines

PARLAI = """\
1 your persona: i read.
2 partner's persona: i cook.
3 your persona: i run.
4 hello\thi , you ?
5 fine\tgood\t\tone|two|good
1 __SILENCE__\tfirst
2 second\tthird
"""


@pytest.mark.parametrize("name", ["talk.jsonl", "talk.jsonl.gz"])
def test_utterances(tmp_path, name):
    path = write_lines(
        tmp_path / name,
        {"dialogue": "d1", "utterances": ["a", "b", ""], "facts": ["f"], "topic": "tea"},
        {"utterances": ["c", "d"]},
    )
    corpus = load(path)
    assert corpus.files[0].reader == "conversations"
    assert corpus.turns == [
        Turn("d1:1", "b", ("a",), system="talk", dialogue="d1", facts=("f",), extra={"topic": "tea"}),
        Turn("d1:2", "", ("a", "b"), system="talk", dialogue="d1", facts=("f",), extra={"topic": "tea"}),
        Turn("1:1", "d", ("c",), system="talk", dialogue="talk#1"),
    ]
    assert corpus.caveats == ()


def test_chat_logs(tmp_path):
    said = [("system", "Be kind."), ("user", "hi"), ("assistant", "hello"), ("tool", "x"), ("user", "so?")]
    messages = [{"role": role, "content": content} for role, content in said]
    path = write_lines(tmp_path / "log.jsonl", {"id": 5, "messages": messages}, {"system": "bot", "messages": messages})
    shared = {"facts": ("Be kind.",)}
    assert load(path).turns == [
        Turn("5:1", "hello", ("hi",), system="log", dialogue="5", **shared),
        Turn("5:2", "so?", ("hi", "hello"), system="log:user", dialogue="5", **shared),
        Turn("0:1", "hello", ("hi",), system="bot", dialogue="log#0", **shared),
        Turn("0:2", "so?", ("hi", "hello"), system="bot:user", dialogue="log#0", **shared),
    ]


LANGCHAIN = [
    {"type": "system", "data": {"content": "Be kind.", "type": "system"}},
    {"type": "human", "data": {"content": "hi", "type": "human"}},
    {"type": "ai", "data": {"content": "", "type": "ai", "tool_calls": [{"name": "look"}]}},
    {"type": "tool", "data": {"content": "21 degrees", "type": "tool"}},
    {"type": "ai", "data": {"content": "hello", "type": "ai"}},
]
GEMINI = [
    {"role": "system", "parts": [{"text": "Be kind."}]},
    {"role": "user", "parts": [{"text": "hi"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "look"}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": "21 degrees"}}]},
    {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "hello"}]},
]


@pytest.mark.parametrize("messages", [LANGCHAIN, GEMINI], ids=["LangChain's messages_to_dict", "Gemini"])
def test_messages_of_other_dialects(tmp_path, messages):
    corpus = load(write_lines(tmp_path / "log.jsonl", {"messages": messages}))
    facts = ("Be kind.", "21 degrees")
    assert corpus.turns == [Turn("0:1", "hello", ("hi",), system="log", dialogue="log#0", facts=facts)]


def test_unnamed_conversations_of_two_files_are_not_the_same(tmp_path):
    paths = [
        write_lines(tmp_path / "one.jsonl", {"utterances": ["a", "b"]}, {"utterances": ["c", "d", "e"]}),
        write_lines(tmp_path / "two.jsonl", {"utterances": ["f", "g", "h"]}, {"utterances": ["i", "j"]}),
        write(tmp_path / "three.txt", "k __eou__ l __eou__\n"),
    ]
    corpora = [load(path) for path in paths]
    assert [[turn.id for turn in corpus] for corpus in corpora] == [
        ["0:1", "1:1", "1:2"],
        ["0:1", "0:2", "1:1"],
        ["0:1"],
    ]
    found = [{turn.dialogue for turn in corpus} for corpus in corpora]
    assert found == [{"one#0", "one#1"}, {"two#0", "two#1"}, {"three#0"}]
    # Read at once or one by one, they have the same names.
    assert load(paths).turns == [turn for corpus in corpora for turn in corpus]


def test_short_conversations_are_counted(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", {"utterances": ["a"]}, {"utterances": ["a", "b"]}, {"utterances": []})
    corpus = load(path)
    assert [turn.id for turn in corpus] == ["1:1"]
    (caveat,) = corpus.caveats
    assert caveat.code == "short_conversations"
    assert caveat.message == f"{path}: 2 conversations of fewer than two utterances left out"


def test_only_short_conversations(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", {"utterances": ["a"]})
    assert refusal(path) == ": expected turns, found none: 1 conversation of fewer than two utterances left out"


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"utterances": "a"}, "utterances: expected a list of strings, found the text 'a'"),
        (
            {"utterances": ["a", 1]},
            "utterances: expected a list of strings, found a list with the number 1 at place 2",
        ),
        ({"messages": "a"}, "messages: expected a list of chat messages, found the text 'a'"),
        ({"messages": ["a"]}, "messages: expected a chat message with role and content, found the text 'a'"),
        (
            {"messages": [{"content": "a"}]},
            "messages: expected a chat message with role and content, found an obj",
        ),
        (
            {"messages": [{"role": "user", "text": "a"}, {"role": "assistant", "text": "b"}]},
            "messages: expected a chat message with role and content, found an object with the fields 'role', 'text'",
        ),
        ({"messages": [], "utterances": []}, "expected either utterances or messages, found both"),
        (
            {"dialogue": "d"},
            "expected either utterances or messages, found an object with the fields 'dialogue'",
        ),
        ({"utterance": ["a", "b"]}, "unknown field 'utterance'; did you mean 'utterances'?"),
        (
            {"utterances": ["a", "b"], "facts": [1]},
            "facts: expected a list of strings, found a list of 1 number",
        ),
    ],
)
def test_bad_lines(tmp_path, record, message):
    good = {"utterances": ["a", "b"]}
    path = write_lines(tmp_path / "a.jsonl", good, record, good)
    assert refusal(path).startswith(f":2: {message}")
    assert [turn.id for turn in load(path, skip_invalid=True)] == ["0:1", "2:1"]


def test_a_dialogue_given_twice(tmp_path):
    record = {"dialogue": "d", "utterances": ["a", "b"]}
    path = write_lines(tmp_path / "a.jsonl", record, record)
    assert refusal(path).startswith(":2: id 'd:1' of system 'a' stands already at ")


@pytest.mark.parametrize("name", ["dd.txt", "dd.txt.gz"])
def test_conversations(tmp_path, name):
    path = write(tmp_path / name, "a b __eou__ c __eou__ d __eou__\r\n\ne __eou__ f\n")
    corpus = load(path)
    assert corpus.files[0].reader == "dailydialog"
    assert corpus.turns == [
        Turn("0:1", "c", ("a b",), system="dd", dialogue="dd#0"),
        Turn("0:2", "d", ("a b", "c"), system="dd", dialogue="dd#0"),
        Turn("1:1", "f", ("e",), system="dd", dialogue="dd#1"),
    ]


def test_a_line_without_the_mark(tmp_path):
    path = write(tmp_path / "dd.txt", "a __eou__ b __eou__\nnothing\nc __eou__ d __eou__\n")
    assert refusal(path) == ":2: expected utterances that end in __eou__, found 'nothing'"
    assert [turn.id for turn in load(path, skip_invalid=True)] == ["0:1", "2:1"]


def test_a_blank_utterance_is_an_utterance(tmp_path):
    path = write(tmp_path / "dd.txt", "a __eou__ __eou__ b __eou__\n")
    assert [turn.response for turn in load(path)] == ["", "b"]


@pytest.mark.parametrize("name", ["p.txt", "p.txt.gz"])
def test_dialogues(tmp_path, name):
    corpus = load(write(tmp_path / name, PARLAI))
    own, partner = ("i read.", "i run."), ("i cook.",)
    assert corpus.files[0].reader == "parlai"
    assert corpus.turns == [
        Turn("0:1", "hi , you ?", ("hello",), system="p", dialogue="p#0", facts=own),
        Turn("0:2", "fine", ("hello", "hi , you ?"), system="p", dialogue="p#0", facts=partner),
        Turn("0:3", "good", ("hello", "hi , you ?", "fine"), system="p", dialogue="p#0", facts=own),
        Turn("1:1", "second", ("first",), system="p", dialogue="p#1"),
        Turn("1:2", "third", ("first", "second"), system="p", dialogue="p#1"),
    ]
    assert corpus.caveats == ()


def test_the_last_utterance_may_stay_unanswered(tmp_path):
    assert [turn.response for turn in load(write(tmp_path / "p.txt", "1 a\tb\n2 c\n"))] == ["b", "c"]


def test_a_persona_alone_is_a_short_conversation(tmp_path):
    corpus = load(write(tmp_path / "p.txt", "1 your persona: x\n1 a\tb\n"))
    assert [turn.id for turn in corpus] == ["1:1"]
    assert [caveat.code for caveat in corpus.caveats] == ["short_conversations"]


def test_a_line_without_a_number(tmp_path):
    path = write(tmp_path / "p.txt", "1 a\tb\nc\td\n2 e\tf\n")
    assert refusal(path) == ":2: expected a line that begins with its number and a space, found 'c\\td'"
    assert [turn.response for turn in load(path, skip_invalid=True)] == ["b", "e", "f"]
