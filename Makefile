# make run [DIR=~/code/thing] [PORT=4096] · make test [ARGS="-k undo"] · make test-long · make lint · make bench · make clean

PYTHON ?= python3
BIN := .venv/bin
BROWSERS := chromium chromium-browser google-chrome google-chrome-stable
LOCKED := pyproject.toml constraints.txt
comma := ,

.PHONY: install run test test-long lint bench machine clean

install: $(BIN)/.installed static/vendor/.fetched

run: install
	@dir="$${DIR:-}"; case "$$dir" in "~"|"~/"*) dir="$$HOME$${dir#?}";; esac; \
	exec $(BIN)/opencode-web $${dir:+"$$dir"} $${PORT:+--port "$$PORT"} $(ARGS)

test: $(BIN)/.installed-dev static/vendor/.fetched machine
	@$(BIN)/pytest -n 2 --dist loadfile -m "not long" $(ARGS)

# Kills at random, long histories, lists of attacks: minutes each. Then what a Mac has: no /proc, no inotify.
test-long: $(BIN)/.installed-dev static/vendor/.fetched machine
	@$(BIN)/pytest -n 2 --dist loadfile -m long $(ARGS)
	@$(BIN)/python -m tests.bare $(BIN)/pytest -n 2 --dist loadfile -m "not long" $(ARGS) tests/runtime tests/sessions

lint: $(BIN)/.installed-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@XDG_DATA_HOME="$(CURDIR)/.mypy_cache" $(BIN)/mypy  # its Django plugin loads the settings
	@$(BIN)/lint-imports

bench: $(BIN)/.installed-dev static/vendor/.fetched
	@$(BIN)/python -m bench $(ARGS)

# What the tests drive and pip cannot install: a browser, a Redis, a terminal, strace, npm for other people's servers,
# two language servers, and Go for one of them.
machine:
	@wanted="chromium fonts-liberation"; \
	for name in $(BROWSERS); do ! command -v $$name >/dev/null || wanted=; done; \
	for name in redis-server tmux strace clangd gopls; do command -v $$name >/dev/null || wanted="$$wanted $$name"; done; \
	command -v npm >/dev/null || wanted="$$wanted nodejs npm"; \
	command -v go >/dev/null || wanted="$$wanted golang-go"; \
	[ -n "$$wanted" ] || exit 0; \
	if ! command -v apt-get >/dev/null; then \
		echo "No apt-get to install what some tests need:" $$wanted >&2; \
		exit 0; \
	fi; \
	sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	$$sudo apt-get update -qq && \
	$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		$$wanted >/dev/null

clean:
	rm -rf .venv build dist static/vendor .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "opencode-web needs Python 3.11 or newer; '$(PYTHON)' is older or not there." >&2; \
		echo "Name another one with: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; \
		echo "Could not create .venv. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt uv || \
		echo "uv could not be installed: going on with pip, which takes about a minute longer." >&2

# $(call pip-install,WHAT): uv resolves in seconds what takes pip a minute.
define pip-install
	@echo "Installing opencode-web into .venv (this happens once)."
	@if [ -x $(BIN)/uv ]; then \
		$(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '$(1)'; \
	else \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '$(1)'; \
	fi
	@touch $@
endef

$(BIN)/.installed: $(LOCKED) | $(BIN)/python
	$(call pip-install,.)

$(BIN)/.installed-dev: $(LOCKED) | $(BIN)/python
	$(call pip-install,.[dev$(comma)redis])
	@touch $(BIN)/.installed

static/vendor/.fetched: static/vendor.lock.json | $(BIN)/.installed
	@$(BIN)/python -m opencode_web.vendor
	@mkdir -p static/vendor && touch $@
