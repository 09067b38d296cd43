# `make` lists the targets. Everything runs in the virtual environment $(VENV), made on first
# use: with a sourced ROS 2 it sees that one, else it gets ROS 2 from wheels.

PYTHON ?= python3
VENV ?= .venv
# of the demo: seconds until it ends, empty: until Ctrl-C; what it shows: around, reach or
# obstacles; 0: without the page in the browser
DURATION ?=
SCENE ?= around
VIEW ?= 1
# of the benchmark, as --count 1000 --arms ur5; and the folder for its figures
OPTIONS ?=
FIGURES ?= build/benchmark
# of `make fuzz` and `make moves`: how many; of `make soak`: what is done to the node, and minutes
# at 500 Hz
DOCUMENTS ?= 10000
MOVES ?= 10000
EVENTS ?= 100000
MINUTES ?= 10
# the source of chance for all
SEED ?= 1

# Nothing of ours leaves this machine.
export ROS_AUTOMATIC_DISCOVERY_RANGE := LOCALHOST
# Without it a process of ROS dies by signal 11 now and then.
export FASTDDS_DEFAULT_PROFILES_FILE ?= $(abspath config/fast_dds.xml)

# The interpreter of the environment, in which ROS finds the installed package.
RUN := AMENT_PREFIX_PATH=$(abspath $(VENV))$(addprefix :,$(AMENT_PREFIX_PATH)) $(VENV)/bin/python
# A worker that has no tests left takes some of another's: none is alone with the longest file.
# A worker that dies ends the run: xdist would wait for its tests for ever.
PYTEST := $(RUN) -m pytest -n auto --dist worksteal --max-worker-restart 0
# These wait most of the time, for nodes and other processes: five at once leave two cores room
# for what is due now. The longest come first.
WAITING := $(addprefix test/,commander cli view ros)
AT_ONCE := -n 5
# Kills processes of ROS again and again: in a process of its own, which says where it dies.
HOSTILE := test/ros/test_hostile_input.py

EXTRAS_demo := fast ros demo view
EXTRAS_test := fast ros test docs
EXTRAS_jazzy := jazzy quick
EXTRAS_benchmark := fast benchmark
EXTRAS_docs := fast docs
EXTRAS_figures := fast benchmark collision plot
EXTRAS_view := fast ros test view browser
EXTRAS_node := fast ros collision

NO_PYTHON := $(PYTHON) is missing; fabrik_ros needs Python 3.10 or newer. \
	Debian, Ubuntu: apt install python3 python3-venv
NO_ROS := The demo needs ROS 2, and $(VENV) has none: "make clean demo" says why. \
	The library and "make test" work without.

NO_JAZZY := $(VENV) has no ROS 2 Jazzy from wheels: they are for x86-64 Linux and Python 3.10 to 3.14, \
	and are left out where a ROS 2 is sourced. Build with colcon there.

# The stamp is named after the files: when one is deleted, no other becomes newer.
PACKAGE_FILES := package.xml setup.cfg $(sort $(shell find fabrik_ros build_kernels launch config \
	urdf resource -type f -not -path '*/__pycache__/*' -not -name '_built*'))
INSTALLED := $(VENV)/installed-$(shell echo $(PACKAGE_FILES) | cksum | cut -d ' ' -f 1)

# numba does not notice an edited callee in another file: each state has its own cache.
KERNELS = $(shell cat fabrik_ros/kernels/*.py | cksum | cut -d ' ' -f 1)

.NOTPARALLEL:

.PHONY: help
help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 32

.PHONY: demo
demo: $(VENV)/with-demo $(INSTALLED) ## a simulated arm moves; SCENE=around, reach, obstacles or program; DURATION=10 s; VIEW=0: no browser
	@$(RUN) -c 'import rclpy' 2>/dev/null || { echo '$(NO_ROS)'; exit 1; }
	$(RUN) demo/run.py --scene '$(SCENE)' $(if $(DURATION),--duration $(DURATION)) \
		$(if $(filter 0,$(VIEW)),--no-view)

.PHONY: lint
lint: $(VENV)/with-test $(INSTALLED) ## style, spelling and types; ten seconds
	$(LINT)

define LINT
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m codespell_lib
	$(RUN) -m mypy --strict fabrik_ros/
endef

.PHONY: test
test: $(VENV)/with-test $(INSTALLED) ## lint, types and tests; twelve minutes on two cores
	@echo 'make test takes about twelve minutes on two cores; make test-long runs the rest.'
	$(LINT)
	$(PYTEST) -m 'not long' $(addprefix --ignore ,$(WAITING))
	$(PYTEST) -m 'not long' $(AT_ONCE) $(WAITING)

# Laws try a few examples in `make test`, and many here.
LAWS = $(shell grep -rlE --include 'test_*.py' '^(from|import) hypothesis' test | grep -v $(HOSTILE) | sort)

.PHONY: test-long
test-long: export HYPOTHESIS_PROFILE := many
test-long: $(VENV)/with-test $(INSTALLED) ## the tests and examples that "make test" leaves out; 18 minutes or so
	@echo 'make test-long takes 18 minutes or so on two cores.'
	$(PYTEST) -m long $(addprefix --ignore ,$(WAITING))
	$(PYTEST) -m 'not long' $(LAWS)
	$(PYTEST) -m long $(AT_ONCE) $(WAITING) --ignore $(HOSTILE)
	$(RUN) -X faulthandler -m pytest $(HOSTILE)

# The node over real ROS, where distributions differ: messages, parameters, life cycle, clock, signals.
JAZZY_TESTS := $(patsubst %,test/ros/%.py,test_node_process test_services clocks/test_clock \
	clocks/test_receiving inputs/test_frames inputs/test_jog messages/test_conversions \
	outputs/test_outputs status/test_statuses)

.PHONY: test-jazzy
test-jazzy: ## the node on ROS 2 Jazzy, from wheels; two minutes
	$(MAKE) VENV=$(VENV)-jazzy jazzy-tests

.PHONY: jazzy-tests
jazzy-tests: $(VENV)/with-jazzy $(INSTALLED)
	@$(RUN) -m pip show --quiet ros-rclpy || { echo '$(NO_JAZZY)'; exit 1; }
	$(PYTEST) -m 'not long' $(AT_ONCE) $(JAZZY_TESTS)

.PHONY: test-view
test-view: $(VENV)/with-view $(INSTALLED) ## the browser view, in a headless Chromium; five minutes
	$(RUN) -m pytest test/view test/cli/test_run.py

COVERAGE := --cov-report=term:skip-covered

# Built code leaves no trace, so that the report leaves out kernels: they are counted interpreted.
.PHONY: coverage
coverage: $(VENV)/with-test $(INSTALLED) ## lines that "make test" runs, but for kernels; 15 minutes
	$(PYTEST) -m 'not long' --cov=fabrik_ros $(COVERAGE)
	@echo 'Not counted: kernels, which run as machine code. make coverage-kernels counts them.'

.PHONY: coverage-kernels
coverage-kernels: $(VENV)/with-test $(INSTALLED) ## lines of kernels that tests run; 20 minutes
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m 'not long' --cov=fabrik_ros/kernels --cov-config=/dev/null \
		--cov-branch $(COVERAGE) $(KERNEL_TESTS) $(addprefix --ignore ,$(SEARCHES))

.PHONY: built-test
built-test: $(VENV)/with-test $(INSTALLED) ## built kernels beside jitted ones, 10,000 solves; three minutes
	$(PYTEST) -m long test/kernels/test_built.py

# What calls kernels. Of motion those tests that come nearest to them: the others simulate motions
# for minutes and run no line of a kernel besides.
KERNEL_TESTS := $(addprefix test/,kernels model collision solver planning) \
	$(patsubst %,test/motion/%.py,limits/test_joint_limiter limits/test_tip_speed \
	limits/test_tip_speed_laws lines/test_line_reference lines/test_line_tracker \
	lines/test_target_filter lines/test_singularity paths/test_planned_path \
	choosing/test_stream_laws following/test_late_steps)

# They search by the thousand, which takes minutes interpreted; their kernels are those that the
# other tests run, and they run compiled and with bounds checked.
SEARCHES := $(addprefix test/,solver/test_blocked_by_limits.py solver/test_endless_joints.py \
	solver/test_few_joints.py planning/test_joint_routes.py)

.PHONY: solver-test-interpreted
solver-test-interpreted: $(VENV)/with-test $(INSTALLED) ## solver tests, uncompiled; at most 12 minutes
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m 'not long' $(KERNEL_TESTS) $(addprefix --ignore ,$(SEARCHES))

.PHONY: solver-test-bounds
solver-test-bounds: $(VENV)/with-test $(INSTALLED) ## solver tests, bounds checked; at most 5 minutes
	NUMBA_BOUNDSCHECK=1 $(PYTEST) -m 'not long' $(KERNEL_TESTS)

.PHONY: fuzz
fuzz: export NUMBA_CACHE_DIR = build/numba/$(KERNELS)
fuzz: $(VENV)/with-test $(INSTALLED) ## mutated URDFs; DOCUMENTS=10000 SEED=1; five minutes
	$(RUN) benchmark/endurance/fuzz_urdf.py --documents $(DOCUMENTS) --seed $(SEED)

.PHONY: soak
soak: export NUMBA_CACHE_DIR = build/numba/$(KERNELS)
soak: $(VENV)/with-test $(INSTALLED) ## the node in a hostile world; an hour
	$(RUN) benchmark/endurance/soak.py --events $(EVENTS) --minutes $(MINUTES) --seed $(SEED)

.PHONY: moves
moves: export NUMBA_CACHE_DIR = build/numba/$(KERNELS)
moves: $(VENV)/with-test $(INSTALLED) ## a commander loops MOVES=10000 in simulated time; three hours
	$(RUN) benchmark/endurance/moves.py --moves $(MOVES) --seed $(SEED)

.PHONY: benchmark
benchmark: export NUMBA_CACHE_DIR = build/numba/$(KERNELS)
# Its experiments have kernels of their own, which numba compiles with those that they call.
benchmark: export FABRIK_ROS_KERNELS = numba
benchmark: $(VENV)/with-peers $(INSTALLED) ## measure the solver and its peers; 20 minutes
	$(RUN) benchmark/peers/bench_solver.py --output $(FIGURES) $(OPTIONS)
	$(RUN) benchmark/peers/plot.py $(FIGURES)

.PHONY: figures
figures: $(VENV)/with-figures $(INSTALLED) ## draw the figures of the docs; a minute
	$(RUN) docs/draw_figures.py
	$(RUN) docs/draw_motion.py
	$(RUN) benchmark/experiments/published_experiments.py --figure docs/figures/convergence.png
	$(RUN) benchmark/experiments/points_on_arms_figure.py docs/figures/points_on_arms.png

.PHONY: pictures
pictures: $(VENV)/with-view $(INSTALLED) ## draw the pictures of the page and of the gallery, in a headless Chromium; several minutes
	$(RUN) docs/draw_page.py
	$(RUN) docs/draw_gallery.py

.PHONY: docs
docs: $(VENV)/with-docs $(INSTALLED) ## the documentation as a site, in build/docs; half a minute
	$(RUN) -m sphinx -W --keep-going -q docs build/docs
	@echo 'The site begins with build/docs/index.html.'

.PHONY: benchmark-trees
benchmark-trees: export NUMBA_CACHE_DIR = build/numba/$(KERNELS)
benchmark-trees: $(VENV)/with-benchmark $(INSTALLED) ## measure several tips at once; a minute
	$(RUN) benchmark/experiments/trees.py $(OPTIONS)

.PHONY: benchmark-arrivals
benchmark-arrivals: export NUMBA_CACHE_DIR = build/numba/$(KERNELS)
benchmark-arrivals: $(VENV)/with-benchmark $(INSTALLED) ## count targets reached by the defaults; an hour
	$(RUN) benchmark/experiments/arrivals.py $(OPTIONS)

.PHONY: benchmark-node
benchmark-node: export NUMBA_CACHE_DIR = build/numba/$(KERNELS)
benchmark-node: $(VENV)/with-node $(INSTALLED) ## measure the node beside a bare one; 6 minutes
	$(RUN) benchmark/node/latency.py $(OPTIONS)

.PHONY: clean
clean: ## remove the environment, all caches and what was built
	rm -rf $(VENV) $(VENV)-jazzy .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage* htmlcov
	rm -rf build dist install log docs/api docs/_build *.egg-info demo.png fabrik_ros/kernels/_built*
	find . -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/with-%: setup.py pyproject.toml scripts/make_environment.py
	@command -v $(PYTHON) >/dev/null || { echo '$(NO_PYTHON)'; exit 1; }
	$(PYTHON) scripts/make_environment.py $(VENV) $(EXTRAS_$*)
	@rm -f $(VENV)/installed-*
	@touch $@ $(INSTALLED)

$(VENV)/with-peers: $(VENV)/with-benchmark benchmark/peers/install_peers.py
	$(RUN) benchmark/peers/install_peers.py
	@touch $@

$(INSTALLED): $(PACKAGE_FILES)
	$(PYTHON) scripts/make_environment.py $(VENV)
	@rm -f $(VENV)/installed-*
	@touch $@
