"""Encoder directories that no one meant: an InputError with the file and, where known, the field; never a traceback, a
wait, or memory without end."""

import json
import os
import struct

import pytest

from dialogauge.encode.encoders import Encoders
from dialogauge.encode.tokenizer import FAILS, tokenizer_errors
from dialogauge.errors import InputError
from tests.encode.models import change_json, open_model, write_json

HUGE = 10**12


def refused(directory, *said):
    """The message with which the encoder is refused, wherever in its work that comes."""
    with pytest.raises(InputError) as raised:
        open_model(directory).pooled([("hello", "how are you"), ("a", "b")])
    for part in said:
        assert part in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("num_hidden_layers", 10**9),
        ("num_hidden_layers", -1),
        ("num_hidden_layers", "3"),
        ("num_hidden_layers", True),
        ("max_position_embeddings", "many"),
        ("max_position_embeddings", [48]),
        ("hidden_size", HUGE),
        ("hidden_size", "32"),
        ("vocab_size", HUGE),
        ("vocab_size", {}),
        ("intermediate_size", HUGE),
        ("type_vocab_size", "2"),
        ("model_type", 7),
        ("model_type", ["bert"]),
        ("quantization_config", {"quant_method": "nope"}),
        ("pad_token_id", 10**6),
        ("pad_token_id", -7),
        ("pad_token_id", "0"),
    ],
)
def test_fields_of_the_configuration(copy, field, value):
    change_json(copy / "config.json", **{field: value})
    refused(copy, "config.json: ", f"{field}: ")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("layer_norm_eps", "small"),
        ("hidden_act", "nope"),
        ("hidden_act", 3),
        ("hidden_dropout_prob", 7),
        ("num_attention_heads", 0),
        ("num_attention_heads", "4"),
        ("chunk_size_feed_forward", 3),
        ("is_decoder", "x"),
        ("initializer_range", []),
        ("attention_probs_dropout_prob", "x"),
    ],
)
def test_what_only_the_library_can_refuse(copy, field, value):
    """It raises whatever it likes, from AssertionError to StrictDataclassFieldValidationError."""
    change_json(copy / "config.json", **{field: value})
    with pytest.raises(InputError, match="copy"):
        open_model(copy).pooled(["hello", "how are you"])


def test_what_is_no_fault_of_the_files_is_not_taken_for_one(tmp_path):
    """Ctrl-C, the end of a process, or a time limit of a caller."""

    class Enough(BaseException):
        pass

    for other in (Enough, KeyboardInterrupt, SystemExit, GeneratorExit):
        with pytest.raises(other), tokenizer_errors(tmp_path, FAILS):
            raise other
    with pytest.raises(InputError, match="its tokeniser fails: ValueError"), tokenizer_errors(tmp_path, FAILS):
        raise ValueError


def test_a_network_far_larger_than_its_weights_is_not_built(copy):
    """Every size alone would pass; the matrices would have 32 * 900,000 numbers for each layer."""
    change_json(copy / "config.json", intermediate_size=900_000)
    refused(copy, "config.json: describes a network of 1", "numbers; its weights have ")


def test_labels_without_end_are_not_looked_at(copy):
    change_json(copy / "config.json", num_labels=10**12)
    assert open_model(copy).pooled(["hello"]).vectors.shape == (1, 32)


@pytest.mark.parametrize(
    "content", ["[" * 100_000, '{"a": NaN}', '{"a": 1e999}', '{"a": ' + "9" * 400 + "}", "\ufeff{}"]
)
def test_json_that_python_alone_would_choke_on_or_let_pass(copy, content):
    for name in ("config.json", "tokenizer_config.json"):
        before = (copy / name).read_text()
        (copy / name).write_text(content)
        refused(copy, f"{name}: is not JSON")
        (copy / name).write_text(before)


@pytest.mark.parametrize("value", ["512", [512], {}, True])
def test_a_limit_that_is_no_number(copy, value):
    change_json(copy / "tokenizer_config.json", model_max_length=value)
    refused(copy, "tokenizer_config.json: model_max_length: expected a number")


def test_a_limit_without_room_for_words(copy):
    change_json(copy / "tokenizer_config.json", model_max_length=2)
    refused(copy, "its limit of 2 tokens leaves no room beside the special tokens")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"])
@pytest.mark.parametrize("other", ["pipe", "folder", "loop", "device", "empty"])
def test_what_stands_in_place_of_a_file(copy, name, other):
    path = copy / name
    path.unlink()
    {
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "loop": lambda: path.symlink_to(path),
        "device": lambda: path.symlink_to("/dev/zero"),
        "empty": path.touch,
    }[other]()
    if (name, other) == ("tokenizer_config.json", "loop"):
        assert open_model(copy).pooled(["hello"]).vectors.shape == (1, 32)  # as if it were not there
    else:
        refused(copy, "copy")


def test_a_pipe_that_no_one_asked_for(copy):
    os.mkfifo(copy / "adapter_config.json")
    refused(copy, "adapter_config.json: expected a plain file, found a pipe, a socket or a device")


@pytest.mark.parametrize(
    "values", [{"dtype": "F8_E9"}, {"shape": [2**40, 2**40]}, {"shape": -1}, {"data_offsets": [0, 2**60]}]
)
def test_headers_of_weights(copy, values):
    content = (copy / "model.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    header[next(name for name in header if name != "__metadata__")].update(values)
    packed = json.dumps(header).encode()
    (copy / "model.safetensors").write_bytes(struct.pack("<Q", len(packed)) + packed + content[8 + length :])
    refused(copy, "copy: cannot be loaded as an encoder")
    with pytest.raises(InputError, match="cannot be read as safetensors"):
        Encoders().get(f"static:{copy}")


def test_an_index_of_things_that_are_no_names(copy):
    (copy / "model.safetensors").unlink()
    write_json(copy / "model.safetensors.index.json", {"weight_map": {"a": ["x"], "b": {"c": 1}}})
    refused(copy, "model.safetensors.index.json: weight_map: expected the names of files")


def test_segments_that_the_model_does_not_have(copy):
    """The tokeniser says a pair's second text is of segment 9; the model has two."""
    first, second = ({"Sequence": {"id": name, "type_id": kind}} for name, kind in (("A", 0), ("B", 9)))
    start = {"SpecialToken": {"id": "[CLS]", "type_id": 0}}
    special = {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}}
    template = {"single": [start, first], "pair": [start, first, second], "special_tokens": special}
    change_json(copy / "tokenizer.json", post_processor={"type": "TemplateProcessing", **template})
    refused(copy, "its tokeniser gives numbers that the model has no rows for")


@pytest.mark.parametrize("name", ["~nosuchuser", "static:~nosuchuser", "static:~nosuchuser/x", "a\0b", "static:a\0b"])
def test_names_of_nothing(name):
    with pytest.raises(InputError, match="no encoder|no word vectors"):
        Encoders().get(name)


def test_word_vectors_that_never_end(tmp_path):
    (tmp_path / "words.txt").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.txt")
    from dialogauge.encode.static import open_static

    for name in ("words.txt", "pipe.txt"):
        with pytest.raises(InputError, match="is not a regular file"):
            open_static(tmp_path / name, tmp_path / "converted")


def test_weights_that_are_not_finite(copy):
    from tests.encode.models import safetensors

    tensors = safetensors.load_file(copy / "model.safetensors")
    name = next(name for name in tensors if name.endswith("word_embeddings.weight"))
    tensors[name][0, 0] = float("nan")
    safetensors.save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    refused(copy, "gives numbers that are not finite: its weights are damaged")
