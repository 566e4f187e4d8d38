# `make help` lists what there is. Every target sets up what it needs by itself.
.DEFAULT_GOAL := help
.NOTPARALLEL:

CMAKE ?= cmake
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
FUZZ_SECONDS ?= 60
PYTHON := .venv/bin/python
BUILD = $(CMAKE) --build build/$(1) --parallel $(JOBS)

.PHONY: help
help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 16

.PHONY: demo
demo: build/dev/build.ninja ## Build and run the quick starts in C++ and Python
	@$(call BUILD,dev) --target quickstart _loup
	@echo '== examples/quickstart.cpp'
	@build/dev/bin/quickstart
	@echo '== examples/quickstart.py'
	@PYTHONPATH=build/dev/python $(PYTHON) examples/quickstart.py

.PHONY: build
build: build/dev/build.ninja ## Build everything; .venv then has loup and imports loup
	@$(call BUILD,dev)
	@ln -sfn ../../build/dev/bin/loup .venv/bin/loup
	@echo ../../../../build/dev/python > "$$(echo .venv/lib/python3.*/site-packages)/loup-dev.pth"

.PHONY: test
test: build ## Build everything and run all tests
	@$(PYTHON) tools/run_tests

SOAK_SECONDS ?= 600
.PHONY: soak-shm
soak-shm: build/dev/build.ninja ## Kill processes that share memory at random for SOAK_SECONDS (600)
	@$(call BUILD,dev) --target memory_tests
	@LOUP_SOAK_SECONDS=$(SOAK_SECONDS) build/dev/bin/memory_tests --gtest_filter='MapFaults.T23*'

.PHONY: asan
asan: build/asan/build.ninja ## Run the C++ tests under the address and undefined-behaviour sanitizers
	@$(call BUILD,asan)
	@$(PYTHON) tools/run_tests --build build/asan $(LAYERS)

.PHONY: tsan
tsan: build/tsan/build.ninja ## Run the C++ tests under the thread sanitizer; LAYERS="base ops" picks
	@$(call BUILD,tsan) $(if $(LAYERS),--target $(LAYERS:%=%_tests))
	@$(PYTHON) tools/run_tests --build build/tsan $(LAYERS)

.PHONY: fuzz
fuzz: build/fuzz/build.ninja ## Fuzz every parser for FUZZ_SECONDS (60); FUZZ="npy json" picks
	@$(call BUILD,fuzz)
	@$(PYTHON) tools/run_fuzzers --seconds $(FUZZ_SECONDS) $(FUZZ)

.PHONY: mutants
mutants: | setup-mutants ## Break the sources in small ways and see that tests notice; MUTANTS="sum* plans" picks
	@$(PYTHON) tools/mutants $(MUTANTS)

.PHONY: bench
bench: bench-build ## Measure loup beside its peers; TASKS=sum, TASKS="exp cache" pick
	@PYTHONPATH=build/release/python $(PYTHON) bench/run.py $(TASKS)

.PHONY: bench-check
bench-check: bench-build ## Measure and exit 1 when a task is below its floor
	@PYTHONPATH=build/release/python $(PYTHON) bench/run.py --check $(TASKS)

.PHONY: bench-calls
bench-calls: bench-build ## Measure what methods and loup.torch add to small calls; exit 1 above a limit
	@PYTHONPATH=build/release/python $(PYTHON) bench/method_overhead.py --check
	@PYTHONPATH=build/release/python $(PYTHON) bench/torch_overhead.py --check

.PHONY: bench-peers
bench-peers: ## Install the libraries that the benchmarks compare with
	@tools/setup --peers

.PHONY: bench-build
bench-build: build/release/build.ninja
	@$(call BUILD,release) --target loup _loup loup_bench_limit

.PHONY: lint
lint: setup-lint build/clang/build.ninja ## Check formatting, names, types and layout of the sources
	@$(PYTHON) tools/lint

.PHONY: format
format: setup-lint ## Format all sources
	@$(PYTHON) tools/lint --fix

.PHONY: docs
docs: build ## Renew the table in docs/ops.md and the stored stubs
	@$(PYTHON) tools/docs

.PHONY: install
install: build/release/build.ninja ## Install the library, headers and tool to PREFIX (/usr/local)
	@$(call BUILD,release) --target loup loup_cli
	@$(CMAKE) --install build/release --prefix $(PREFIX)

.PHONY: clean
clean: ## Remove what was built; .venv stays
	@rm -rf build

.PHONY: setup setup-lint setup-fuzz setup-mutants
setup:
	@tools/setup
setup-lint:
	@tools/setup --lint
setup-fuzz:
	@tools/setup --fuzz
setup-mutants:
	@tools/setup --mutants

build/clang/build.ninja: | setup-lint
build/fuzz/build.ninja: | setup-fuzz
build/%/build.ninja: CMakePresets.json | setup
	@$(CMAKE) --preset $*
	@touch $@
