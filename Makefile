# make run [DIR=~/code/thing] [PORT=4096] · make test [ARGS="-k undo"] · make test-long · make test-postgres · make lint · make bench · make words · make lock · make clean

PYTHON ?= python3
BIN := .venv/bin
BROWSERS := chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable
LOCKED := pyproject.toml constraints.txt requirements.txt
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	--no-emit-index-url $(ARGS)

# Where it is set, each of the thousand processes of a test run compiles all that it imports.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: install run there test test-long test-postgres lint bench words machine lock clean

install: $(BIN)/.installed static/vendor/.fetched static/words/.compiled

# ~ is not expanded by every shell where it comes after an equals sign.
THERE = dir="$${DIR:-}"; case "$$dir" in "~"|"~/"*) dir="$$HOME$${dir\#?}";; esac

run: there install
	@$(THERE); exec $(BIN)/opencode-web $${dir:+"$$dir"} $${PORT:+--port "$$PORT"} $(ARGS)

there:
	@$(THERE); [ -z "$$dir" ] || [ -d "$$dir" ] || { echo "make run: there is no folder $$dir" >&2; exit 2; }

# A worker more than two cores have: tests also wait. What failed is tried once more, alone (tests/retry.py).
TESTS = -m pytest -p tests.retry -n 3 --dist loadfile $(ARGS)

test: $(BIN)/.installed-dev static/vendor/.fetched static/words/.compiled machine
	@$(BIN)/python $(TESTS) -m "not long"

# Kills, long histories, lists of attacks, a hundred thousand files: minutes each. Then what a Mac has: no /proc, no inotify.
test-long: $(BIN)/.installed-dev static/vendor/.fetched static/words/.compiled machine
	@$(BIN)/python $(TESTS) -m long
	@$(BIN)/python -m tests.bare $(BIN)/python $(TESTS) -m "not long" tests/runtime tests/sessions

# With the rows in a PostgreSQL of the run's own (tests/on_postgres.py), which what is tried once more has, too.
ON_POSTGRES ?= tests/sessions tests/runtime tests/protocol
test-postgres: $(BIN)/.installed-dev static/vendor/.fetched static/words/.compiled machine
	@PYTEST_PLUGINS=tests.on_postgres $(BIN)/python $(TESTS) -m "not long" $(ON_POSTGRES)

lint: $(BIN)/.installed-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@XDG_DATA_HOME="$(CURDIR)/.mypy_cache" $(BIN)/mypy  # its Django plugin loads the settings
	@$(BIN)/lint-imports

bench: $(BIN)/.installed-dev static/vendor/.fetched static/words/.compiled
	@$(BIN)/python -m bench $(ARGS)

# What is said anew goes into the catalogue of each language (docs/languages.md), with LOCALE=fr into a new one.
MESSAGES = $(BIN)/python manage.py makemessages $(if $(LOCALE),--locale $(LOCALE),--all) --no-location --no-wrap \
	--no-obsolete --ignore tests --ignore bench --ignore build --ignore .venv --ignore vendor --ignore words --verbosity 0
words: $(BIN)/.installed-dev machine
	@$(MESSAGES) --domain django --extension html,py
	@$(MESSAGES) --domain djangojs --extension js
	@sed -i.old '/^"POT-Creation-Date/d;/^"Report-Msgid-Bugs-To/d' opencode_web/locale/*/LC_MESSAGES/*.po && rm opencode_web/locale/*/LC_MESSAGES/*.old

# What the tests drive and pip cannot install: a browser, a Redis, a PostgreSQL, a terminal, strace, a clock that can be set, gettext,
# npm for other people's servers, two language servers, and Go for one of them.
machine:
	@wanted="chromium-headless-shell fonts-liberation"; \
	for name in $(BROWSERS); do ! command -v $$name >/dev/null || wanted=; done; \
	for name in redis-server tmux strace clangd gopls faketime; do command -v $$name >/dev/null || wanted="$$wanted $$name"; done; \
	command -v xgettext >/dev/null || wanted="$$wanted gettext"; \
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || wanted="$$wanted postgresql"; \
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
	rm -rf .venv build dist static/vendor static/words .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "opencode-web needs Python 3.11 or newer; '$(PYTHON)' is older or not there." >&2; \
		echo "Name another one with: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; \
		echo "Could not create .venv. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@sed -n '/^uv==/,/[^\\]$$/p' constraints.txt >.venv/uv.txt
	@$(PIP); pip --quiet --require-hashes -r .venv/uv.txt || echo "uv could not be installed." >&2

# pip before 24.2 does not know the certificates of the system: where it fails it is tried with them.
CERTIFICATES := $(firstword $(wildcard /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt \
	/etc/ssl/ca-bundle.pem /etc/ssl/cert.pem))
PIP = pip() { $(BIN)/python -m pip install --disable-pip-version-check "$$@" || { \
	[ -n "$(CERTIFICATES)" ] && [ -z "$$PIP_CERT" ] && export PIP_CERT="$(CERTIFICATES)" && \
	echo "Once more, with the certificates in $(CERTIFICATES)." >&2 && \
	$(BIN)/python -m pip install --disable-pip-version-check "$$@"; }; }

# $(call install,FILE): what FILE pins, each by its hash, then the project itself, which is this folder.
# uv takes seconds for what takes pip a minute; pip knows registries, certificates and proxies that uv may not know.
define install
	@echo "Installing opencode-web into .venv (this happens once)."
	@$(PIP); \
	put() { "$$@" --quiet --require-hashes -r $(1) && "$$@" --quiet --no-deps --no-build-isolation -e .; }; \
	uv() { [ -x $(BIN)/uv ] && put $(BIN)/uv pip install --system-certs --python $(BIN)/python; }; \
	slow() { echo "Going on with pip, which takes about a minute longer." >&2; put pip; }; \
	uv || slow || { echo "The packages could not be fetched; the reason is above. Behind a company's own certificates" \
		"set SSL_CERT_FILE and PIP_CERT to its file (.pem); behind a proxy, HTTPS_PROXY; for another registry," \
		"PIP_INDEX_URL and UV_INDEX_URL. Then run make again." >&2; exit 1; }
	@touch $@
endef

$(BIN)/.installed: $(LOCKED) | $(BIN)/python
	$(call install,requirements.txt)

$(BIN)/.installed-dev: $(LOCKED) | $(BIN)/python
	$(call install,constraints.txt)
	@touch $(BIN)/.installed

# After a change of the dependencies; ARGS=--upgrade for newer versions. Both files hold names, versions and
# hashes of every platform's files, and no address.
lock: | $(BIN)/python
	@$(COMPILE) --all-extras pyproject.toml --output-file constraints.txt >/dev/null
	@printf "hatchling\npolib\n" | $(COMPILE) --constraint constraints.txt pyproject.toml - --output-file requirements.txt >/dev/null

static/vendor/.fetched: static/vendor.lock.json | $(BIN)/.installed
	@$(BIN)/python -m opencode_web.vendor
	@mkdir -p static/vendor && touch $@

static/words/.compiled: $(wildcard opencode_web/locale/*/LC_MESSAGES/*.po) opencode_web/catalogues.py | $(BIN)/.installed
	@$(BIN)/python opencode_web/catalogues.py
	@mkdir -p static/words && touch $@
