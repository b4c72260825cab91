"""One small input of every format, for tests of detection and for fuzzing."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

from tests.corpus import samples_of_forms, samples_of_tools


class Sample(NamedTuple):
    """Files by name, and which of them is given to `load` ("" for the directory they are in)."""

    files: dict[str, bytes]
    given: str

    def write(self, folder: Path) -> Path:
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return folder / self.given


def samples() -> dict[str, Sample]:
    """By the reader's name; of further forms that it reads, by a name that no reader has."""
    return {
        **{name: Sample({"sample": text.encode()}, "sample") for name, text in {**_LINES, **_arrays()}.items()},
        **{name: Sample({"sample": text.encode()}, "sample") for name, text in samples_of_tools.texts().items()},
        **{name: Sample({"sample": text.encode()}, "sample") for name, text in samples_of_forms.texts().items()},
        "eval log": Sample({"sample": samples_of_tools.eval_log(zipfile.ZIP_DEFLATED)}, "sample"),
        "parquet": Sample({"sample": _parquet()}, "sample"),
        "dataset": Sample({"train-00000-of-00001.parquet": _parquet()}, ""),
        "parallel": Sample({name: text.encode() for name, text in _PARALLEL.items()}, "src-a.txt"),
        "text": Sample({name: text.encode() for name, text in _TEXT.items()}, ""),
        "grade": Sample(_grade(), ""),
    }


def compressed() -> Sample:
    """JSON lines in gzip, whose frame is fuzzed like a format."""
    return Sample({"sample": gzip.compress(b'{"response": "a"}\n{"response": "b"}\n' * 50, mtime=0)}, "sample")


_TURN = {
    "id": 1,
    "context": [{"role": "user", "content": [{"type": "text", "text": "hé"}]}],
    "response": "a \U0001f600",
    "references": ["b", "c"],
    "ratings": {"d": [1, None, "N/A"]},
    "extra": {"k": 1.5e3},
}
_PARALLEL = {"src-a.txt": "é\nb\nc\n", "tgt-a.txt": "a\nb\nc\n", "per-a.txt": "p</s>q\np</s>q\nr\n"}
_LINES = {
    "jsonl": "".join(json.dumps({**_TURN, "id": n}, ensure_ascii=n % 2 == 0) + "\n" for n in range(4)),
    "csv": 'id,context,response,ratings.d,ratings,n\n1,"[""a"", ""b""]","x, ""y""",3,,0.5\n2,a,é,"[1, 2]","{}",\n',
    "tsv": 'id\tcontext\tresponse\tratings.d\textra\n1\t["a"]\tx\t3\t{"k": 1}\n2\ta\t"é\n"\tN/A\t\n',
    "fbd": '{"src": "a", "refs": ["b"], "hyps": ["c", "d"], "human_scores": [[1, 2], [3.5, null]]}\n' * 3,
    "conversations": '{"dialogue": 1, "utterances": ["a", "b", "é"], "facts": ["f"]}\n'
    '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], "id": "s"}\n',
    "pairwise": '{"id": 1, "context": ["hé"], "a": {"system": "s", "response": "x", "references": ["r"]}, '
    '"b": {"system": "t", "response": "é"}, "preferences": {"d": ["a", null, "tie"]}, "probability": 0.5}\n'
    '{"id": "1", "context": "hé", "a": {"system": "s", "response": "x"}, "b": {"system": "u", "response": ""}}\n',
    "dailydialog": "a __eou__ é __eou__ c __eou__\nd __eou__ e __eou__\n",
    "parlai": "1 your persona: a\n2 partner's persona: b\n3 hé\tc\n4 d\te\t\tf|e\n1 __SILENCE__\tg\n2 h\ti\n",
    "entailment": "hi\thow are you\nfine\ngood\ni am é\nwhat now ?\ttell me\nnothing\nrest\nsleep\na\tb\tc\nd\ne\nf\n",
    "bert_ruber": "query,response,human_score,Ruber_Unref_Score,CTX_Unref_Score\r\n"
    + "".join(f'{query},"{reply}",{score},"0.5\n","1e-3\n"\r\n' for reply in "xy" for score in "123" for query in "aé"),
}
_TEXT = {
    "contexts.txt": "a|||é\nb\tc\n\n",
    "responses.one.txt": "x\ny\nz\n",
    "responses.two.txt": "p\n\nq\n",
    "references.1.txt": "r\ts\nt\nu\n",
    "references.2.txt": "\nv\nw\n",
}


def _arrays() -> dict[str, str]:
    usr = {
        "context": "a\né\n",
        "fact": "your persona: i run.\nyour persona: i read.\n",
        "annotators": ["p", "q"],
        "responses": [
            {"response": "b\n", "model": "Original Ground Truth", "Natural": [3, 2], "Overall": [5, 4]},
            {"response": "c\n", "model": "bot", "Natural": [1, "N/A (odd)"], "Overall": [2, 2]},
        ],
    }
    rated = {"Fluent": [1, 2, "N/A (no idea)"], "Overall": [3, 4, 5]}
    fed: list[dict[str, Any]] = [
        {"context": "User: a\nSystem: b\nUser: é", "response": "System: d", "system": "bot", "annotations": rated},
        {"context": "User: q", "response": "System: r", "system": "human", "annotations": rated},
        {"context": "User: a\nSystem: b\nUser: é\nSystem: d", "system": "bot", "annotations": {"Coherent": [1, 0, 2]}},
    ]
    exchange = {"user": "User: a", "chatbot": "Chatbot: é", "overall impression": 2}
    conture = {"dialog_id": 0, "turns": [exchange] * 3, "dialog_ratings": [{"diverse": 1}, {"diverse": "N/A"}]}
    said = [{"role": "system", "content": "s"}, {"role": "user", "content": "é"}]
    chat = {"id": None, "messages": said, "response": {"role": "assistant", "content": "b"}}
    return {
        "usr": json.dumps([usr, {**usr, "fact": "_nofact\n"}], indent=1),
        "fed": json.dumps(fed, ensure_ascii=False, indent=2),
        "conture": json.dumps([{**conture, "dialog_id": number} for number in range(3)]),
        "json": json.dumps([{**_TURN, "id": 1}, {**_TURN, "id": 2, "n": 0.5}, chat], ensure_ascii=False, indent=1),
    }


def _parquet() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {
        "id": ["a", "b", "c"],
        "response": ["x", "y", "z"],
        "context": [["p", "q"], [], None],
        "ratings": [{"d": [1.0]}, None, {"d": [2.0, 3.0]}],
        "n": [1, 2, 3],
    }
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def _grade() -> dict[str, bytes]:
    files: dict[str, str] = {}
    judgements = []
    for system, answers in {"bot": ["x", "y"], "ranker": ["p", "é"]}.items():
        contexts = ["a|||b", "c|||d"]
        files |= {
            f"eval_data/daily/{system}/human_ctx.txt": "\n".join(contexts) + "\n",
            f"eval_data/daily/{system}/human_hyp.txt": "\n".join(answers) + "\n",
            f"eval_data/daily/{system}/human_ref.txt": "r\ns\n",
            f"human_score/daily/{system}/human_score.txt": "2.5\n3\n",
        }
        for context, answer, scores in zip(contexts, answers, ("[1, 4]", "[3, 3, 3]"), strict=True):
            place = {"Dataset": "daily_EVAL", "DialogModel": system, "Context": context}
            judgements.append({**place, "Response": answer, "HumanScores": scores})
    files["human_score/human_judgement.json"] = json.dumps(judgements, indent=4)
    return {name: text.encode() for name, text in files.items()}
