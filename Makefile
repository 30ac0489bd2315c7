# The two commands a newcomer needs: `make demo` and `make test`. Each installs what is missing (Debian 12),
# builds what has changed, and runs. `make help` lists the others.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

JOBS ?= $(shell nproc)
OCCAM := build/release/apps/occam/occam
# Tests that use several threads: suites named so, the thread pool and the simulator.
THREADED := *Threaded*:ThreadPool*:Simulator*

# Clang compiles for sanitizers in half the time that GCC takes; where there is none, the usual compiler will do.
sanitizing = $(firstword $(shell command -v clang++-16 clang++ c++))

# $(call build,PRESET,TARGETS[,OPTIONS]): configures once; CMake itself notices later changes.
define build
	@test -f build/$(1)/build.ninja || cmake --preset $(1) -Wno-dev $(if $(OCCAM_HEADERS),-DOCCAM_HEADERS=$(OCCAM_HEADERS)) $(3)
	@cmake --build build/$(1) -j $(JOBS) --target $(2)
endef

# Where Python has what its tests need, the module is built and tested beside the program.
PYTHON := build/python-env/bin/python
with_python = [ ! -x $(PYTHON) ] || grep -qs OCCAM_PYTHON:BOOL=ON build/release/CMakeCache.txt || \
	cmake --preset release -Wno-dev -DOCCAM_PYTHON=ON -DPython_EXECUTABLE=$(CURDIR)/$(PYTHON) \
	$(if $(OCCAM_HEADERS),-DOCCAM_HEADERS=$(OCCAM_HEADERS))

.PHONY: help
help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' Makefile

.PHONY: setup
setup: ## install the packages that are missing
	@scripts/setup.sh

.PHONY: program
program: setup
	$(call build,release,occam)

.PHONY: build
build: setup ## build the program and the tests
	$(call build,release,all)

.PHONY: demo
demo: program ## train a network on coin tosses, hold its answers against the exact ones, and ask a ready-made one
	@scripts/demo.sh $(OCCAM)

.PHONY: test
test: ## all tests, also under sanitizers, and the formatting check
	@scripts/setup.sh test python
	@scripts/format.sh check
	@scripts/python-env.sh
	@$(with_python)
	$(call build,release,all)
	@scripts/kernels.sh $(PYTHON)
	$(call build,asan,unit_tests fuzz_burst mpi_ranks,-DCMAKE_CXX_COMPILER=$(sanitizing))
	$(call build,tsan,threaded_tests,-DCMAKE_CXX_COMPILER=$(sanitizing))
	@scripts/sanitized.sh '$(THREADED)'
	@echo "== all tests"
	@ctest --preset release -j $(JOBS) --progress

.PHONY: gpu-test
gpu-test: ## tests of the CUDA engine, on a machine with a GPU and nvcc
	@scripts/setup.sh test
	$(call build,release,gpu_tests)
	@build/release/tests/gpu_tests --gtest_brief=1

.PHONY: fuzz
fuzz: ## fuzz every reader with libFuzzer, SECONDS=60 in all for each processor (installs clang)
	@scripts/setup.sh fuzz
	$(call build,fuzz,fuzz_targets)
	@cd build/fuzz && $(CURDIR)/tests/fuzz/run.sh bin $(CURDIR)/tests/fuzz/corpus $(or $(SECONDS),60) $(JOBS)

.PHONY: python
python: setup ## build the Python wheel, install it into a fresh environment (build/wheel-env) and run its tests there
	@scripts/setup.sh python
	$(call build,package,occam)
	@scripts/python.sh build/package/apps/occam/occam

.PHONY: pages
pages: ## the coins and the response times as web pages that compare, in build/pages (installs emscripten)
	@scripts/setup.sh page
	$(call build,release,occam)
	@scripts/pages.sh $(OCCAM) build/pages

.PHONY: install
install: setup ## install into PREFIX (/usr/local unless given): program, man page, completion, library
	$(call build,release,occam occam_library occam_written)
	@cmake --install build/release --prefix $(or $(PREFIX),/usr/local)

.PHONY: deb
deb: setup ## Debian packages for any CPU of this kind, in build/package
	@scripts/setup.sh package
	$(call build,package,occam occam_library occam_written)
	@cd build/package && cpack

.PHONY: matrix
matrix: ## build and test with other compilers, libraries and processors (hours; installs them; scripts/matrix.sh has the list)
	@scripts/matrix.sh

.PHONY: bench
bench: ## measure speed: build and run the benchmarks
	@scripts/setup.sh bench
	$(call build,bench,all)
	@for program in build/bench/bench/*_bench; do echo "== $$program"; $$program; done

.PHONY: peers
peers: ## measure speed beside PyTorch, JAX, pyABC and Python simulators, in one run (installs them into bench/.venv)
	@scripts/setup.sh bench
	@bench/peers/setup.sh
	$(call build,bench,engine_bench decision_bench neuron_bench simulate_bench)
	$(call build,release,occam)
	@bench/.venv/bin/python bench/simulators.py
	@bench/.venv/bin/python bench/side_by_side.py
	@bench/.venv/bin/python bench/abc_peer.py

.PHONY: studies
studies: program ## run the published studies (SCALE=quick or full, STUDY=...) and keep their figures in studies/
	@scripts/studies.sh $(OCCAM) $(or $(SCALE),quick) $(STUDY)

.PHONY: networks
networks: program ## make the ready-made networks that networks/ lacks (hours; PROBLEM=..., DEVICE=cuda, see scripts/ready-made.sh)
	@scripts/ready-made.sh $(OCCAM) networks $(PROBLEM)

.PHONY: format
format: ## format all C++ files
	@scripts/format.sh

.PHONY: docs
docs: program ## put the program's options into docs/cli.md
	@scripts/update-docs.sh $(OCCAM)

.PHONY: clean
clean: ## remove everything built
	rm -rf build
