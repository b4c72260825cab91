"""The real server gives what `judge` and `answer` ask of one."""

import json
import urllib.request

import pytest

from tests.serving.llama_server import MODEL, missing, serving

pytestmark = pytest.mark.serve


def test_it_answers_with_the_probabilities_of_tokens():
    assert not missing(), "`make test-serve` installs them"
    asked = {
        "model": MODEL,
        "messages": [{"role": "user", "content": "Say hello."}],
        "max_tokens": 2,
        "temperature": 0,
        "logprobs": True,
        "top_logprobs": 5,
    }
    with serving() as url:
        request = urllib.request.Request(f"{url}/chat/completions", json.dumps(asked).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            choice = json.load(answer)["choices"][0]
    assert choice["message"]["content"]
    assert len(choice["logprobs"]["content"][0]["top_logprobs"]) == 5
