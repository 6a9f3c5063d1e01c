# Signet's workbench: `make` lists what there is. Everything built lands under SIGNET_SCRATCH, one folder a set of compiler
# flags (sharing one would rebuild the whole package at each switch), so a second clone is built in seconds.

SIGNET_SCRATCH ?= /var/tmp/signet
SCRATCH := $(abspath $(SIGNET_SCRATCH))
ifeq ($(strip $(SCRATCH)),)
$(error SIGNET_SCRATCH is empty: name a folder for the build products, or unset it)
endif
export SIGNET_SCRATCH := $(SCRATCH)

# SwiftPM writes the flags of package traits in hash order: without this, every second build compiles again what uses them.
export SWIFT_DETERMINISTIC_HASHING := 1
# The crash backtracer can outlive a crash and hold the pipe that CI waits on.
export SWIFT_BACKTRACE := enable=no
export PYTHONDONTWRITEBYTECODE := 1

# How many test cases run at once. Without a limit all of them begin together, and on two cores each waits for the others
# until a timeout ends.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH := 24

# What `make test` hands on to `swift test`, e.g. TEST_ARGS='--filter HOTP'.
TEST_ARGS ?=

# What needs a C library's headers to build; the library itself is looked up at run time.
# To name a trait turns the default ones off, unless they are named too.
TRAITS := --traits default,PostgreSQL
DEBUG := $(TRAITS) --scratch-path $(SCRATCH)/debug
# Without --no-export-dynamic the executable offers all its symbols to libraries it might load, and keeps them in memory. The other
# options of the linker make it smaller: docs/decisions/031-size-of-the-program.md.
ICU_DATA := $(SCRATCH)/release/icu-data.o
RELEASE = $(TRAITS) -c release --static-swift-stdlib --disable-local-rpath -Xlinker --no-export-dynamic \
    -Xswiftc -use-ld=lld -Xlinker --icf=safe -Xlinker -z -Xlinker pack-relative-relocs \
    -Xlinker --wrap=$(shell scripts/icu-data --symbol) -Xlinker $(ICU_DATA) \
    -Xcc -ffunction-sections -Xcc -fdata-sections -Xswiftc -Xfrontend -Xswiftc -function-sections \
    --scratch-path $(SCRATCH)/release
# The small program contains libstdc++ and libgcc, because loading them took a quarter of the time of `signet code`
# (docs/decisions/036-agent.md). Only its link has these options, so nothing is compiled again.
GCC_LIBRARY = $(shell clang --print-file-name=$(1))
FRONT = $(RELEASE) -Xlinker '--remap-inputs=*/libstdc++.so=$(call GCC_LIBRARY,libstdc++.a)' \
    -Xlinker '--remap-inputs=*/libgcc_s.so=$(call GCC_LIBRARY,libgcc_eh.a)'
TSAN := $(TRAITS) --sanitize=thread --scratch-path $(SCRATCH)/tsan
ASAN := $(TRAITS) --sanitize=address --scratch-path $(SCRATCH)/asan
# What a package gets that depends on this one and names no traits.
PLAIN := --scratch-path $(SCRATCH)/plain

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: setup setup-build setup-demo setup-test setup-recipes setup-bench setup-release setup-lint build demo test browsers peers plain \
    kills attack recipes commands installs lint format bench tsan asan docs api-check help clean

setup: setup-test ## install the system packages that are missing to build and test (Debian, Ubuntu); setup-demo, setup-build: fewer

setup-build setup-demo setup-test setup-recipes setup-bench setup-release setup-lint:
	@scripts/setup $(@:setup-%=%)

build: setup-build ## build the programs, the libraries and the tests
	@swift build $(DEBUG) --build-tests

demo: setup-demo ## enroll, code, approve, log in: the main job end to end, on this machine
	@swift build $(DEBUG) --product signet
	@exec "$$(swift build $(DEBUG) --product signet --show-bin-path)/signet" demo

test: setup-test ## build and run all tests (TEST_ARGS='--filter NAME' for some)
	@swift build $(DEBUG) --build-tests
	@scripts/check-apple "$$(swift build $(DEBUG) --show-bin-path)"
	@swift test $(DEBUG) --skip-build --parallel --event-stream-output-path "$(SCRATCH)/tests.jsonl" $(TEST_ARGS) 2>&1 \
	    | tee "$(SCRATCH)/tests.log" \
	    || { bin="$$(swift build $(DEBUG) --show-bin-path)"; \
	         scripts/failures "$(SCRATCH)/tests.jsonl" "$(SCRATCH)/tests.log" "$$bin/signetPackageTests.xctest"; exit 1; }

# These are in `make test`, too. `.ci/nightly` can go on with each of them.
browsers: setup-test ## the tests in Chromium: the server's pages, and logins that continue there
	@swift build $(DEBUG) --build-tests
	@swift test $(DEBUG) --skip-build --filter '^SignetPagesTests\.|LoginElsewhereTests' $(TEST_ARGS)

peers: export SIGNET_CLIENTS := all
peers: setup-test ## the tests with other OpenID providers, other OpenID clients (all scenarios), and a stand-in for AWS SNS
	@swift build $(DEBUG) --build-tests
	@swift test $(DEBUG) --skip-build --filter 'ProviderTests|SNSMotoTests|RealClientTests|BrowserAppTests' $(TEST_ARGS)

# The package in Examples is built beside it, because it needs the same libraries.
plain: setup-test ## build everything without a trait, run what is different then, and build Examples as a package that depends on this one
	@swift build $(PLAIN) --build-tests
	@swift test $(PLAIN) --skip-build --filter 'FirstUse|TPMAbsence|RecordStoreTests'
	@swift build --package-path Examples $(PLAIN)
	@scripts/run-examples "$$(swift build --package-path Examples $(PLAIN) --show-bin-path)" \
	    "$$(swift build $(PLAIN) --show-bin-path)/signet"

kills: export SIGNET_KILLS := all
kills: setup-test ## kill a store's work at every one of its system calls, have the disk fail at each, kill one of two servers among 1,000 logins, and the agent among 10,000 requests
	@swift build $(DEBUG) --build-tests
	@swift test $(DEBUG) --skip-build --filter 'KillTests|AgentLoadTests'

# All rounds of the attacks, with a fixed seed and a random one, which is printed: SIGNET_ATTACK_SEED repeats it. They fail
# after ten minutes. At a terminal an interrupt reaches them only with --foreground, which signals `swift test` alone: it hands the
# signal on, and kills what is left within 30 seconds, so --kill-after is longer.
attack: export SIGNET_ATTACKS := all
attack: setup-test ## attack the server, the vault and the command line from outside, with all rounds (docs/design/threats.md)
	@swift build $(DEBUG) --build-tests
	@export SIGNET_ATTACK_SEED="$${SIGNET_ATTACK_SEED:-$$RANDOM$$RANDOM}"; \
	echo "The random seed is SIGNET_ATTACK_SEED=$$SIGNET_ATTACK_SEED"; \
	foreground=; [ ! -t 0 ] || foreground=--foreground; \
	timeout $$foreground --signal=INT --kill-after=40 600 \
	    swift test $(DEBUG) --skip-build --parallel --filter '^Attacks\.' $(TEST_ARGS) \
	    || { code=$$?; case $$code in 124|137) echo "The attacks did not end within ten minutes." >&2;; esac; exit $$code; }

recipes: setup-recipes ## the tests of Examples/recipes, in Python, JavaScript, Java, Go and bash
	@swift build $(DEBUG) --product signet
	@scripts/recipes --bin "$$(swift build $(DEBUG) --product signet --show-bin-path)"

# COMMANDS=nightly runs the pages that take longer.
COMMANDS ?= ci
commands: setup-test ## run the commands of README and docs as a reader does, and compare what they print
	@swift build $(DEBUG) --product signet
	@scripts/documented-commands $(COMMANDS) --bin "$$(swift build $(DEBUG) --product signet --show-bin-path)"

installs: release ## install what `make release` builds, each time on a system of its own, and use it (needs root)
	@scripts/check-installs

lint: setup-lint ## the lint rules, after the proof that each can fail
	@python3 -m unittest discover -s scripts/lint/tests
	@python3 -m unittest discover -s scripts/packaging/tests
	@scripts/lint/all

format: ## lay the sources out as the format rule wants them
	@swift format --in-place --recursive --parallel $(wildcard Package.swift Sources Tests Benchmarks Snippets Fuzz)

.PHONY: icu-data
icu-data: setup-build
	@scripts/icu-data "$(ICU_DATA)"

# The two programs in the places in which an installation has them.
INSTALLED := $(SCRATCH)/release/installed

bench: setup-bench icu-data ## the speed and size limits, as ratios in one run; also written to bench.json
	@swift build $(RELEASE) --product signet
	@swift build $(FRONT) --product signet-front
	@swift build $(RELEASE) --product signet-bench
	@bin="$$(swift build $(RELEASE) --show-bin-path)"; \
	mkdir -p "$(INSTALLED)/bin" "$(INSTALLED)/libexec/signet"; \
	strip -o "$(INSTALLED)/bin/signet" "$$bin/signet-front"; \
	strip -o "$(INSTALLED)/libexec/signet/signet" "$$bin/signet"; \
	PATH="$(SCRATCH)/bench/bin:$$PATH" \
	"$$bin/signet-bench" --signet "$(INSTALLED)/libexec/signet/signet" --output bench.json

# The tests of the command line and the attacks look at other processes, which the sanitizer would only slow down.
tsan: setup-test ## the tests under the thread sanitizer
	@swift build $(TSAN) --build-tests
	@swift test $(TSAN) --skip-build --skip SignetCLITests --skip '^Attacks\.' $(TEST_ARGS)

# The leaks it would report are XCTest's and the runtime's own.
asan: export ASAN_OPTIONS := detect_leaks=0
asan: setup-test ## all tests under the address sanitizer
	@swift build $(ASAN) --build-tests
	@swift test $(ASAN) --skip-build $(TEST_ARGS)

# FUZZ_SECONDS a target, as many targets at once as there are processors. The corpora in Fuzz/Corpus are where it begins; what it
# finds new is kept in the scratch folder, and what breaks a reader is left there as crash-*: give it to `signet-fuzz TARGET FILE`
# of any build.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS := json uri jws notification imports cookies events step authenticate form signature cbor headers address \
    configuration container
# The compiler hears only the last of several -sanitize: both in one, or nothing of ours is watched. The readers of the server are
# internal, and -enable-testing makes them reachable.
FUZZ := $(TRAITS) -c release --sanitize=fuzzer --sanitize=address -Xswiftc -sanitize=fuzzer,address \
    -Xswiftc -DSIGNET_FUZZER -Xswiftc -enable-testing --scratch-path $(SCRATCH)/fuzz
.PHONY: fuzz
# What is never given back is a fault as much as a crash: a try that leaves an object behind ends the run.
fuzz: export ASAN_OPTIONS := detect_leaks=1
fuzz: setup-build ## libFuzzer on the readers of JSON, URIs, JWS, push messages, exports, servers' answers, requests and configurations (FUZZ_SECONDS each)
	@swift build $(FUZZ) --product signet-fuzz
	@bin="$$(swift build $(FUZZ) --product signet-fuzz --show-bin-path)"; export FUZZ_SECONDS=$(FUZZ_SECONDS); \
	printf '%s\n' $(FUZZ_TARGETS) \
	    | xargs -I '{}' -P "$$(nproc)" scripts/fuzz "$$bin/signet-fuzz" '{}' "$(SCRATCH)/fuzz/found"

# SwiftPM's warnings about files of the packages we use are not DocC's.
docs: setup ## the API documentation as a site with its tutorial, and how much of the API is documented; fails on a gap or a dead link
	@targets="$$(swift package $(DEBUG) describe --type json | scripts/documented --targets)"; \
	swift package $(DEBUG) --allow-writing-to-directory "$(SCRATCH)/docs-html" generate-documentation \
	    $${targets} --enable-experimental-combined-documentation --warnings-as-errors --output-path "$(SCRATCH)/docs-html"
	@scripts/documented "$(SCRATCH)/debug"
	@scripts/check-site "$(SCRATCH)/docs-html"
	@scripts/lint/links && echo "Markdown pages: 0 dead links"
	@echo "The site is in $(SCRATCH)/docs-html. To read it, run: python3 -m http.server --directory $(SCRATCH)/docs-html 8000"
	@echo "and open http://localhost:8000/documentation or, for the tutorial, http://localhost:8000/tutorials/signet"

api-check: setup-build ## compare the public API with that of the last release
	@scripts/check-api

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

clean: ## delete what was built here
	rm -rf $(foreach folder,debug plain fuzz release tsan asan docs-html bench api api-baselines tests.jsonl tests.log,"$(SCRATCH)/$(folder)") bench.json dist

# What is packed, and what `make install` copies: the stripped programs with their man pages, completions and license notices. The
# small program signet-front becomes bin/signet, and the full one libexec/signet/signet (docs/decisions/036-agent.md).
PACKAGE := $(SCRATCH)/release/package
PREFIX ?= /usr/local
DESTDIR ?=
.PHONY: binary deb release install uninstall

# With the versions of the packages that a release has, whatever newer ones there are.
binary: setup-build icu-data ## build the programs as a release has them, with their man pages and completions, for `make install`
	@cmp --quiet packaging/Package.resolved Package.resolved || cp packaging/Package.resolved Package.resolved
	@swift build $(RELEASE) --product signet
	@swift build $(FRONT) --product signet-front
	@scripts/packaging/release prepare "$(SCRATCH)/release" "$$(swift build $(RELEASE) --show-bin-path)"

deb: setup-release binary ## the Debian package alone, in dist/
	@scripts/packaging/release deb "$(SCRATCH)/release"
	@lintian --allow-root --fail-on error dist/*.deb

release: setup-release binary ## the files of a release in dist/, signed if SIGNET_RELEASE_KEY names the private key
	@scripts/packaging/release pack "$(SCRATCH)/release"
	@lintian --allow-root --fail-on error dist/*.deb

# With sudo nothing is built, because the files in the scratch folder would be root's: run `make binary` first.
install: $(if $(SUDO_UID),,binary) ## install the programs, their man pages and completions below PREFIX (/usr/local) in DESTDIR
	@scripts/packaging/install "$(PACKAGE)" --prefix "$(PREFIX)" --destdir "$(DESTDIR)"

uninstall: ## remove exactly what `make install` has installed below PREFIX in DESTDIR
	@scripts/packaging/install --uninstall --prefix "$(PREFIX)" --destdir "$(DESTDIR)"
