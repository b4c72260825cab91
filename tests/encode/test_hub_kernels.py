"""A config.json that names a repository where an implementation of attention is expected: transformers would load its
code from the hub, by the package `kernels`, in spite of `trust_remote_code=False, local_files_only=True`."""

import json
import os
import subprocess
import sys

import pytest

from dialogauge.encode.configuration import configuration
from dialogauge.encode.find import find_model
from dialogauge.encode.network import skeleton
from dialogauge.errors import InputError
from tests.encode.models import change_json

EVIL = "evil/kernels"
STUB = """
from unittest.mock import MagicMock
def get_kernel(*arguments, **options):
    print("asked for", *arguments)
    raise RuntimeError("a stub")
def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return (lambda *arguments, **options: lambda found: found) if name.startswith("use_") else MagicMock()
"""
"""Records what is asked for. Whatever else transformers wants of the package does nothing."""
LOAD = """
import sys
from transformers import AutoConfig, AutoModel
from dialogauge.encode.encoders import Encoders
from dialogauge.encode.find import find_model
from dialogauge.encode.network import skeleton
hostile = sys.argv[1]
try:
    config = AutoConfig.from_pretrained(hostile, local_files_only=True, trust_remote_code=False)
    AutoModel.from_pretrained(hostile, config=config, local_files_only=True, trust_remote_code=False)
except Exception:
    pass
print("ours", flush=True)
skeleton(find_model(hostile))
print(Encoders(cache=None).get(hostile).pooled(["hello"]).vectors.shape)
"""
FIELDS = [
    {"_attn_implementation": EVIL},
    {"attn_implementation": EVIL},
    {"_attn_implementation_internal": EVIL},
    {"_attn_implementation": EVIL, "_attn_implementation_autoset": True},
    {"_experts_implementation": EVIL},
    {"experts_implementation": EVIL},
    {"use_kernels": True},
    {"text_config": {"_attn_implementation": EVIL}},
    {"_attn_implementation": "flash_attention_2"},
]


@pytest.mark.slow
def test_no_kernel_is_asked_for(copy, tmp_path):
    """Of the transformers that is installed. With the same stub the library alone does ask."""
    import transformers.utils.import_utils as versions

    change_json(copy / "config.json", _attn_implementation=EVIL, experts_implementation=EVIL)
    least = getattr(versions, "KERNELS_MIN_VERSION", "0.9.0")
    about = tmp_path / "stub" / f"kernels-{least}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: kernels\nVersion: {least}\n")
    (about.parent / "kernels.py").write_text(f"__version__ = {least!r}\n{STUB}")
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(about.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-c", LOAD, str(copy)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    alone, _, ours = done.stdout.partition("ours\n")
    assert f"asked for {EVIL}" in alone
    assert ours == "(1, 32)\n"


@pytest.mark.parametrize("fields", FIELDS)
def test_what_a_configuration_says_of_implementations_is_the_librarys_choice(copy, fields):
    change_json(copy / "config.json", **fields)
    files = find_model(str(copy))
    assert EVIL not in json.dumps(configuration(files, files.layers).to_dict())
    assert skeleton(files).config._attn_implementation in {"sdpa", "eager"}


@pytest.mark.parametrize("name", ["quantization_config", "compression_config", "quantization", "load_in_4bit"])
@pytest.mark.parametrize("inner", [None, "text_config"])
def test_quantised_weights_are_refused(copy, name, inner):
    field = {name: {"quant_method": "bitsandbytes"}}
    change_json(copy / "config.json", **({inner: field} if inner else field))
    with pytest.raises(InputError, match=f"{name}: quantised weights are not read"):
        skeleton(find_model(str(copy)))


def test_adapters_are_refused(copy):
    (copy / "adapter_config.json").write_text('{"base_model_name_or_path": "evil/base"}')
    with pytest.raises(InputError, match="has an adapter_config.json: adapters are not read"):
        skeleton(find_model(str(copy)))
