import pytest

from dialogauge.encode.causal import find
from dialogauge.encode.causal.find import FILE, INSTALL, find_language_model, smollm2_at_hand
from dialogauge.errors import InputError, MissingPackage, MissingWeights
from tests.encode.causal.small import build_causal


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No package, no hub, and an empty folder of models."""
    monkeypatch.setattr(find, "packaged_file", lambda *_: None)
    monkeypatch.setattr(find, "_on_hub", lambda **_: None)
    monkeypatch.setenv("DIALOGAUGE_MODELS", str(tmp_path))
    return tmp_path


def test_where_smollm2_is_nowhere_it_is_said_how_to_get_it(nowhere):
    assert smollm2_at_hand() is None
    with pytest.raises(MissingWeights, match=INSTALL):
        find_language_model("smollm2")


@pytest.mark.parametrize("place", ["", "smollm2"])
def test_smollm2_in_the_folder_of_models_must_be_the_file_that_is_known(nowhere, place):
    (nowhere / place).mkdir(exist_ok=True)
    (nowhere / place / FILE).write_bytes(b"GGUF, but another")
    assert smollm2_at_hand() == (nowhere / place / FILE).resolve()
    with pytest.raises(InputError, match="expected sha256 b179c952.*model.safetensors"):
        find_language_model("smollm2")


def test_the_folder_of_models_comes_before_the_package_and_the_package_before_the_hub(nowhere, monkeypatch):
    monkeypatch.setattr(find, "_on_hub", lambda **_: nowhere / "hub")
    assert smollm2_at_hand() == nowhere / "hub"
    monkeypatch.setattr(find, "packaged_file", lambda *_: nowhere / "package")
    assert smollm2_at_hand() == nowhere / "package"
    (nowhere / FILE).touch()
    assert smollm2_at_hand() == (nowhere / FILE).resolve()


def test_without_gguf_the_extra_is_named(nowhere, monkeypatch):
    (nowhere / FILE).write_bytes(b"as if")
    monkeypatch.setattr(find, "file_sha256", lambda _: find.SHA256)
    found = find_language_model("smollm2")
    assert (found.identity, found.limit) == ("smollm2-135m-instruct-q4_1@b179c952", 1024)
    given = find.find_spec
    monkeypatch.setattr(find, "find_spec", lambda name: None if name == "gguf" else given(name))
    with pytest.raises(MissingPackage, match=r"dialogauge\[likelihood\]"):
        find_language_model("smollm2")


def test_what_is_no_file_and_no_model_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InputError, match="is no file"):
        find_language_model(str(tmp_path / "x.gguf"))
    with pytest.raises(InputError, match="no language model 'nobody/nothing'"):
        find_language_model("nobody/nothing")


def test_any_directory_is_read(tmp_path):
    directory = build_causal(tmp_path / "own")
    found = find_language_model(str(directory))
    assert found.identity.startswith("own@")
    assert found.limit == 256
    assert found.languages is None
