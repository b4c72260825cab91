"""Damaged encoders, word vectors, kept runs and learned models, and odd command lines, for fuzzing."""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import struct
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from dialogauge.errors import InputError
from tests.corpus.generate import generate
from tests.corpus.mutate import mutate

TEXTS = ["hello , how are you", "", "i would like the soup and a piece of bread please " * 5, "日本 😀"]
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 64, 2**31, 2**63, 10**12, 10**30, -(10**12), 0.5, 1e300, float("nan")),
    *("", "x", "nope", "32", [], {}, [[]], ["a"], {"a": 1}, [1, 2, 3], {"quant_method": "nope"}),
)
NUMBERS = ("999999999999", "-1", "0", "1", "2", "0.5", "nan", "inf", "-inf", "1e999", "x", "", "9" * 400, "٣", "1_0")
WORDS = ("", "x", "~nobody", "static:~nosuch", "static:", "/", "a\0b", "x" * 300, "é", "bleu[", "a,b", ",", "\x1b[31m")
Subject = tuple[Callable[[Path], Path], Callable[[Path, Random], None], Callable[[Path, Random], Any]]


def build_encoder(folder: Path) -> Path:
    from tests.encode.models import build

    return build("bert", folder / "encoder", num_hidden_layers=2)


def build_vectors(folder: Path) -> Path:
    from tests.learned.small import write_vectors

    (folder / "vectors").mkdir()
    write_vectors(folder / "vectors" / "words.txt")
    return folder / "vectors"


def build_run(folder: Path) -> Path:
    from dialogauge.corpus import Corpus, Turn
    from dialogauge.evaluation import evaluate

    turns = [
        Turn(f"{i}", f"{text} answer {i}", (f"question {i}",), (f"full answer {i}",), system)
        for i in range(12)
        for system, text in (("a", "full"), ("b", "no such"))
    ]
    result = evaluate(Corpus(turns), "bleu,distinct,length,meteor,rouge_l", resamples=10)
    result.save(folder / "good")
    return Path(shutil.copytree(folder / "good", folder / "run"))


def build_agreement(folder: Path) -> Path:
    from dialogauge.agreement import correlate
    from dialogauge.corpus import Corpus, Turn

    turns = [
        Turn(f"{i}", f"full answer {i * place}", (f"question {i}",), ratings={"good": (i % 5, place)}, system=system)
        for i in range(12)
        for place, system in enumerate("abc")
    ]
    return correlate(Corpus(turns), "length,distinct", resamples=10).save(folder / "agreement")


def build_model(folder: Path) -> Path:
    from tests.learned.small import write_ruber, write_vectors

    return write_ruber(folder / "model", write_vectors(folder / "words.txt"), members=2)


def damage_directory(directory: Path, random: Random) -> None:
    """One of its files is changed, replaced by something that is no file, or gone."""
    path = random.choice(sorted(path for path in directory.iterdir() if path.is_file()))
    content = path.read_bytes()
    match random.randrange(12):
        case 0 | 1:
            path.write_bytes(mutate(content, random, most=2))
        case 2 if path.suffix != ".safetensors":
            path.write_bytes(generate(content, random))
        case 3:
            path.unlink()
            _something_else(path, random)
        case 4:
            path.write_bytes(random.choice([b"", b"\xef\xbb\xbf" + content, b"[" * 10**5, b"{}", b"[]", b"null"]))
        case _ if path.suffix == ".json":
            write = json.loads(content)
            _set_somewhere(write, random)
            path.write_text(json.dumps(write), encoding="utf-8", errors="surrogatepass")
        case _ if path.suffix == ".safetensors":
            path.write_bytes(_other_header(content, random))
        case _ if path.suffix == ".npz":
            _other_arrays(path, random)
        case _:
            path.write_bytes(mutate(content, random, most=1))


def damage_model(directory: Path, random: Random) -> None:
    """Half of the time the card vouches for what was changed."""
    from tests.learned.small import sign

    damage_directory(directory, random)
    if random.random() < 0.5 and all((directory / name).is_file() for name in ("card.json", "model.safetensors")):
        with suppress(Exception):  # the card itself may be what was changed
            sign(directory)


def _something_else(path: Path, random: Random) -> None:
    match random.randrange(6):
        case 0:
            os.mkfifo(path)
        case 1:
            path.mkdir()
        case 2:
            path.symlink_to(path)
        case 3:
            path.symlink_to("/dev/zero")
        case 4:
            path.symlink_to("/nowhere")


def _set_somewhere(value: Any, random: Random) -> None:
    """Goes down to any depth and changes, adds or takes away one entry there."""
    while True:
        places = list(value) if isinstance(value, dict) else list(range(len(value)))
        inner = [place for place in places if isinstance(value[place], dict | list) and value[place]]
        if not inner or random.random() < 0.5:
            break
        value = value[random.choice(inner)]
    if not places:
        return
    place = random.choice(places)
    if random.random() < 0.15:
        del value[place]
    elif random.random() < 0.05:
        nested: Any = 1
        for _ in range(random.choice([50, 500])):
            nested = [nested]
        value[place] = nested
    else:
        value[place] = random.choice(ODD)


def _other_header(content: bytes, random: Random) -> bytes:
    """Safetensors: 8 bytes of length, a JSON header, the numbers."""
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    data = bytearray(content[8 + length :])
    match random.randrange(4):
        case 0:
            length = random.choice([0, 1, 2**31, 2**63, len(content)])
            return struct.pack("<Q", length) + content[8:]
        case 1:
            place = random.randrange(0, len(data) - 4, 4)
            data[place : place + 4] = struct.pack("<f", random.choice([np.nan, np.inf, 1e38, 0]))
        case _:
            name = random.choice([name for name in header if name != "__metadata__"])
            field = random.choice(["dtype", "shape", "data_offsets"])
            odd = {
                "dtype": ["F64", "F16", "BF16", "I64", "BOOL", "F8_E4M3", "nope"],
                "shape": [[], [1], [2**40, 2**40]],
            }
            header[name][field] = random.choice([*odd.get(field, [[0, 2**60], [-1, 3]]), *ODD])
    packed = json.dumps(header).encode()
    return struct.pack("<Q", len(packed)) + packed + data


def _other_arrays(path: Path, random: Random) -> None:
    with np.load(path) as read:
        arrays = dict(read)
    name = random.choice(sorted(arrays))
    array = arrays[name]
    match random.randrange(8):
        case 0:
            del arrays[name]
        case 1:
            arrays[name] = array[: random.randrange(len(array) + 1)]
        case 2:
            arrays[name] = np.concatenate([array, array])
        case 3:
            arrays[name] = array[..., None] if random.random() < 0.5 else array.reshape(-1)[:1].reshape(())
        case 4:
            kinds = ["f2", "f8", "i1", "u8", "c16", "U3", "S2", "M8[s]", "?", [("a", "i4"), ("b", "f8")]]
            arrays[name] = np.zeros(array.shape, dtype=random.choice(kinds))
        case 5:
            with np.errstate(all="ignore"):
                arrays[name] = (array.astype(float) * random.choice([-1, 0, 3, 10**6])).astype(array.dtype)
        case 6:
            arrays[name] = random.choice([np.empty(0, array.dtype), np.full(array.shape, np.nan)])
        case 7:
            _write_declaring(path, arrays, name, random)
            return
    np.savez_compressed(path, **arrays)


def _write_declaring(path: Path, arrays: dict[str, Any], name: str, random: Random) -> None:
    """An array whose header speaks of far more than there is."""
    import zipfile

    with zipfile.ZipFile(path, "w") as archive:
        for other, array in arrays.items():
            out = io.BytesIO()
            np.lib.format.write_array(out, array)
            content = out.getvalue()
            if other == name:
                shape = str(random.choice([(10**12,), (10**6, 10**6), (-1,), (2**62, 2**62), (10**13, 0)]))
                header = f"{{'descr': '{array.dtype.str}', 'fortran_order': False, 'shape': {shape}, }}"
                header = header.ljust(117) + "\n"
                content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(64)
            archive.writestr(f"{other}.npy", content)


def use_encoder(directory: Path, random: Random) -> None:
    from dialogauge.encode.encoders import Encoders

    name = f"static:{directory}" if random.random() < 0.2 else str(directory)
    encoder = Encoders().get(name)
    for tokens in encoder.tokens(TEXTS):
        assert np.isfinite(tokens.states).all()
    if not name.startswith("static"):
        pairs = list(zip(TEXTS, reversed(TEXTS), strict=True))
        assert np.isfinite(encoder.pooled(pairs, random.choice(["cls", "mean", "max"])).vectors).all()
    assert encoder.recipe()


def use_vectors(directory: Path, random: Random) -> None:
    from dialogauge.encode.static import open_static

    encoder = open_static(directory / "words.txt", directory.parent / "converted")
    assert all(np.isfinite(tokens.states).all() for tokens in encoder.tokens(TEXTS))


def use_run(directory: Path, random: Random) -> None:
    from dialogauge.evaluation import compare_runs
    from dialogauge.evaluation.kept.load_result import load_result
    from dialogauge.figures.report.page import write_report
    from dialogauge.studies.verify_run import verify_run

    if random.random() < 0.2:
        verify_run(directory).render("json")
    if random.random() < 0.2:
        write_report(load_result(directory), directory.parent / "report.html")
    paths = [directory.parent / "good", directory]
    compare_runs(paths if random.random() < 0.5 else paths[::-1], resamples=5).render("json")


def use_agreement(directory: Path, random: Random) -> None:
    from dialogauge.agreement.load_agreement import load_agreement
    from dialogauge.figures.report.page import write_report
    from dialogauge.studies.verify_run import verify_run

    if random.random() < 0.5:
        verify_run(directory).render("json")
    else:
        write_report(load_agreement(directory), directory.parent / "report.html")


def use_model(directory: Path, random: Random) -> None:
    from dialogauge.encode.encoders import Encoders
    from dialogauge.learned.directory import find_encoder
    from dialogauge.learned.ruber.model import open_ruber

    model = open_ruber(directory)
    encoder = find_encoder(model.saved, None, Encoders())
    values = model.relatedness(encoder, [("hello world",), ()], ["bye", "tea"]).values
    assert ((values >= 0) & (values <= 1)).all()
    assert model.normalisation


def build_corpus(folder: Path) -> Path:
    (folder / "corpus").mkdir()
    lines = [
        {
            "context": [f"question {i}"],
            "response": f"{text} answer {i}",
            "references": [f"full answer {i}"],
            "system": s,
        }
        for i in range(6)
        for s, text in (("a", "full"), ("b", "none"))
    ]
    (folder / "corpus" / "turns.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder / "corpus"


def leave(directory: Path, random: Random) -> None:
    """Of a command line, the options are odd and the files are as they should be."""


def use_options(directory: Path, random: Random) -> None:
    """Any verb with up to three odd options, some of which name files to write."""
    from dialogauge.cli.main import main

    arguments = odd_call(directory, random)
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with chdir(directory), redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(arguments)
        except SystemExit as left:
            code = int(left.code or 0)
    assert "Traceback" not in err.getvalue(), err.getvalue()
    if code:
        assert err.getvalue().strip(), f"{arguments}: no word"
        raise InputError(err.getvalue())


def odd_call(directory: Path, random: Random) -> list[str]:
    from dialogauge.cli.main import build_parser

    turns, out = directory / "turns.jsonl", directory / "out"
    metrics = ["--metrics", random.choice(["length", "bleu", "distinct"])]
    calls = {
        "score": [turns, *metrics],
        "compare": [turns, *metrics],
        "correlate": [turns, *metrics],
        "sensitivity": [turns, *metrics, "--kinds", "noise", "--ratios", "0.5"],
        "perturb": [turns, "--kind", "noise", "--ratio", "0.5", "--out", "-"],
        "synthesize": ["entailment", turns, "--out", out / "pairs.jsonl"],
        "reproduce": ["fbd-table3", "--corpora", directory],
        "metrics": [],
        "encoders": [],
        "corpora": [],
        "cache": [],
    }
    verb = random.choice(list(calls))
    parser: Any = build_parser()
    (verbs,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    actions = [action for action in verbs.choices[verb]._actions if action.option_strings and action.dest != "help"]
    call = [verb, *map(str, calls[verb])]
    for action in random.sample(actions, min(len(actions), random.randint(1, 3))):
        option = action.option_strings[-1]
        if action.nargs == 0:
            call.append(option)
        else:
            values = (*NUMBERS, *WORDS) if action.type in (None, Path) else NUMBERS
            call.append(f"{option}={random.choice([*values, str(turns), str(out / 'x')])}")
    return call


SUBJECTS: dict[str, Subject] = {
    "encoder directory": (build_encoder, damage_directory, use_encoder),
    "word vectors": (build_vectors, damage_directory, use_vectors),
    "kept run": (build_run, damage_directory, use_run),
    "kept agreement": (build_agreement, damage_directory, use_agreement),
    "model directory": (build_model, damage_model, use_model),
    "options": (build_corpus, leave, use_options),
}


def outcome(name: str, pristine: Path, folder: Path, random: Random) -> str:
    """Uses a damaged copy: what is refused is refused as an InputError; anything else gets out."""
    _, damage, use = SUBJECTS[name]
    copy = Path(shutil.copytree(pristine, folder / pristine.name))
    if (pristine.parent / "good").is_dir():
        shutil.copytree(pristine.parent / "good", folder / "good")
    damage(copy, random)
    try:
        use(copy, random)
    except InputError:
        return "refused"
    return "used"
