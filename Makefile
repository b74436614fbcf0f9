# `make` alone prints this help. Every task makes its own environment in .venv first, and sets nothing outside it.
.DEFAULT_GOAL := help
.PHONY: help setup compiled test finetune finetune-setup integrations integrations-setup release site site-setup quick explore mutants check format budgets docs demo clean

# the first of these that is Python 3.11 to 3.13
PYTHONS := python3 python3.13 python3.12 python3.11 python
BIN := .venv/bin
READY := .venv/.ready
TUNED_BIN := .venv-finetune/bin
TUNED := .venv-finetune/.ready
JOINED_BIN := .venv-integrations/bin
JOINED := .venv-integrations/.ready
# what CI trains with. Where no GPU is to be seen, the build for the CPU is tried first: it is a tenth of the size, and pip
# takes it where its index has one; TORCH_INDEX="--extra-index-url URL" adds one that has
TORCH := torch==2.13.0
TORCH_INDEX :=
GPU := $(shell command -v nvidia-smi)
# what explore draws by, and how long
SEED := $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
MINUTES := 15
# what is compiled is kept beside its source: else every program that a test starts compiles all of it again
export PYTHONDONTWRITEBYTECODE :=

help: ## print this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## make the environment .venv with everything that development needs

$(READY): pyproject.toml
	@python=""; for p in $(PYTHONS); do \
	  if $$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; then python=$$p; break; fi; \
	done; \
	if [ -z "$$python" ]; then echo "Python 3.11, 3.12 or 3.13 is needed; install one and run make again." >&2; exit 1; fi; \
	test -x $(BIN)/python || $$python -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)

$(TUNED): pyproject.toml $(READY)
	@test -x $(TUNED_BIN)/python || $(BIN)/python -m venv .venv-finetune
	@install="$(TUNED_BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH_INDEX)"; \
	{ test -z "$(GPU)" && $$install '$(TORCH)+cpu' 2>/dev/null; } || $$install '$(TORCH)'; \
	$$install --editable '.[dev,finetune]'
	@touch $(TUNED)

$(JOINED): pyproject.toml $(READY)
	@test -x $(JOINED_BIN)/python || $(BIN)/python -m venv .venv-integrations
	@$(JOINED_BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[langchain,llama-index,haystack]' pytest pytest-cov hypothesis
	@touch $(JOINED)

test: $(READY) ## all checks and all tests with coverage; pytest's summary is the last line where the checks pass
	@$(MAKE) --no-print-directory check > .venv/check.log 2>&1 & checking=$$!; \
	$(MAKE) --no-print-directory compiled && $(BIN)/pytest -n 3 --dist worksteal --cov --cov-report=term; tested=$$?; \
	wait $$checking || { cat .venv/check.log; exit 1; }; exit $$tested

# the tests are compiled once for all processes, beside the checks
compiled: $(READY)
	@$(BIN)/python tests/compiled.py

finetune-setup: $(TUNED) ## make the environment .venv-finetune, with PyTorch for the CPU where there is no GPU

finetune: $(TUNED) ## train, evaluate and serve tiny models on the CPU, in an environment of its own (about 2 GB)
	@$(TUNED_BIN)/pytest -n 2 --dist loadfile -m finetune -W ignore -o faulthandler_timeout=900

integrations-setup: $(JOINED)

integrations: $(JOINED) ## the tests of LangChain, LlamaIndex and Haystack, in an environment of their own (about 600 MB)
	@$(JOINED_BIN)/pytest tests/integrations

release: $(READY) ## build wheel and sdist into dist/, check them, and run the demo from both on every Python here
	@test -x .venv-release/bin/twine || { $(BIN)/python -m venv .venv-release && .venv-release/bin/python -m pip install --quiet --disable-pip-version-check twine; }
	@$(BIN)/python bench/distribution.py --into dist --twine .venv-release/bin/twine

.venv-site/.ready: pyproject.toml $(READY)
	@test -x .venv-site/bin/python || $(BIN)/python -m venv .venv-site
	@$(BIN)/python docs/site_pages.py requirements > .venv-site/requirements.txt
	@.venv-site/bin/python -m pip install --quiet --disable-pip-version-check --requirement .venv-site/requirements.txt
	@touch .venv-site/.ready

site-setup: .venv-site/.ready

site: .venv-site/.ready ## build the documentation site into site/, and follow every link in it
	@$(BIN)/python docs/site_pages.py assemble
	@.venv-site/bin/zensical build --strict
	@$(BIN)/python docs/site_pages.py texts
	@$(BIN)/python docs/site_pages.py check

quick: $(READY) ## the fast tests
	@$(BIN)/pytest -n 2 --dist worksteal -m "not slow"

explore: $(READY) ## property tests only, on new examples for MINUTES=15 (the other tasks draw the same ones in every run)
	@echo "make explore SEED=$(SEED) MINUTES=$(MINUTES)"
	@$(BIN)/pytest -n 2 --dist worksteal --hypothesis-profile=exploring --hypothesis-seed=$(SEED) --minutes=$(MINUTES) \
	  $$(grep -rl 'hypothesis' tests --include='test_*.py')

mutants: $(READY) ## small changes of the modules ONLY="…", drawn by SEED, that the tests beside them notice or not, in MINUTES=15
	@$(BIN)/python bench/mutants.py --near --only $(ONLY) --seed $(SEED) --minutes $(MINUTES)

check: $(READY) ## lint, format, types, layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports > .venv/lint-imports.log || { cat .venv/lint-imports.log; exit 1; }

format: $(READY) ## format the code and sort the imports
	@$(BIN)/ruff check --quiet --fix . ; $(BIN)/ruff format .

budgets: $(READY) ## measure what the budgets of CONTRIBUTING.md bound
	@$(BIN)/python bench/budgets.py

docs: $(READY) ## write the generated pages of docs/ again
	@$(BIN)/python docs/generate.py

demo: $(READY) ## index 40 bundled documents offline and ask six questions
	@$(BIN)/sensegraph demo

clean: ## remove the environment and all caches
	@rm -rf .venv .venv-finetune .venv-integrations .venv-release .venv-site site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
