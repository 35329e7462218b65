# SPDX-License-Identifier: Apache-2.0
# The commands of the project; each sets up what it needs. `make help` lists them.
.PHONY: help demo hunt page test test-aarch64 bench fuzz lint format map clean

help: ## list the commands
	@grep -E '^[a-z0-9-]+:.*## ' Makefile | sed -E 's/^([a-z0-9-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

demo: ## run the quick start (on the NPU, or on hostnpu where there is none) and show its dumps
	@tools/demo.sh

hunt: ## plant faults into a captured decoder and let msprobe find them (HUNT="epsilon --layer 5" for one)
	@tools/hunt.sh

page: ## bundle the HTML page from web/ into csrc/report/page (needs Node.js)
	@tools/page.sh

test: ## run every test
	@tools/test.sh

test-aarch64: ## run the core's C++ tests as on an Arm host, under emulation
	@tools/test_aarch64.sh

bench: ## run the benchmarks
	@tools/bench.sh

fuzz: ## run each fuzzer for FUZZ_SECONDS (60) seconds
	@tools/fuzz.sh

lint: ## run ruff, mypy, eslint, tsc, shellcheck, clang-format and clang-tidy
	@tools/lint.sh

format: ## let ruff and clang-format write what they can put right
	@tools/lint.sh --fix

map: ## write docs/map.md anew from the first lines of the files
	@python3 tools/make_map.py

clean: ## remove what was built (.venv and .torch_npu stay; remove them by hand for a start from nothing)
	rm -rf build dist out .venv/.stamps/msprobe
