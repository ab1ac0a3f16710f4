# redviz. `make run` and `make test` install missing packages and do the rest; `make help` lists the targets.
#
# Variables: V=1 shows the commands, DEV=1 makes warnings errors, SANITIZE=1 builds with ASan and UBSan into
# build/sanitize, SANITIZE=thread with TSan into build/thread, JOBS is the number of parallel compilations and tests, PREFIX is where `make install`
# installs, DESTDIR is put before it. CC and CFLAGS may be set.

CFLAGS ?= -O2 -g
PREFIX ?= /usr/local

export JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PARALLEL = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS))
SUBMAKE = $(MAKE) --no-print-directory $(PARALLEL)

VERSION := $(shell sed -n 's/^.define REDVIZ_VERSION  *"\(.*\)"/\1/p' src/base/version.h)
O = build
FLAGS = -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -ffp-contract=off -pthread -I. -Isrc -MMD -MP
# Hardening, except with sanitizers, which check more; _FORTIFY_SOURCE needs an optimizing compiler. HARDEN=
# turns it off.
HARDEN ?= 1
OPTIMIZES = $(filter-out -O0,$(filter -O%,$(CFLAGS)))
ifneq ($(if $(SANITIZE),,$(HARDEN)),)
FLAGS += -fstack-protector-strong -fPIE $(if $(OPTIMIZES),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
HARD_LINK = $(if $(filter Darwin,$(shell uname -s)),,-pie -Wl,-z,relro,-z,now)
endif
LIBRARIES = $(CURSES_LIBRARIES) -lsqlite3 -lm -pthread -ldl
CURSES_LIBRARIES ?= $(if $(filter Darwin,$(shell uname -s)),-lncurses,-lncursesw)
ifdef DEV
FLAGS += -Werror
endif
SANITIZERS = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SANITIZED_CFLAGS = -O1 -g
ifeq ($(SANITIZE),thread)
O = build/thread
FLAGS += -fsanitize=thread -fno-omit-frame-pointer
else ifdef SANITIZE
O = build/sanitize
FLAGS += $(SANITIZERS)
# It links programs of this size three times as fast.
HARD_LINK = $(if $(shell command -v ld.lld),-fuse-ld=lld)
# The fuzzers of clang use the same objects.
ifneq ($(findstring clang,$(CC)),)
# Without the traces of comparisons that fuzzer-no-link adds: the tests would take half as long again.
FLAGS += -fsanitize-coverage=inline-8bit-counters,pc-table -Wno-pass-failed
endif
endif
ifdef STATIC
FLAGS += -DREDVIZ_STATIC
HARD_LINK = -static-pie -Wl,-z,relro,-z,now
CURSES_LIBRARIES = -lncursesw -ltinfo
endif
ifndef V
Q = @
SAY = @echo
else
SAY = @:
endif

# All files but those of $(MAINS), and those of the CUDA library below, form one archive; the program and every test program link with it. A .c file in tests/
# that is not a test program (test_*.c), fuzzer or benchmark is a helper of the tests.
MAINS = src/main.c src/record_main.c
SOURCES = $(filter-out src/runtime/library/%,$(wildcard $(MAINS) src/*/*.c src/*/*/*.c tui/*.c tui/*/*.c))
LIBRARY = $(O)/libredviz.a
LIBRARY_OBJECTS = $(patsubst %.c,$(O)/obj/%.o,$(filter-out $(MAINS),$(SOURCES)))
TEST_SOURCES = $(wildcard tests/*/test_*.c)
# What makes tests shorter: $REDVIZ_TEST_LARGEST_N, the largest number of elements; $REDVIZ_TEST_QUICK, if set: fewer
# cases. Programs that take more than 10 s of CPU time: `make test` runs some in short and leaves others out,
# `make test-long` runs all of them in full. $REDVIZ_TEST_COMPILER: tests/README.md.
QUICK = REDVIZ_TEST_LARGEST_N=4096 REDVIZ_TEST_QUICK=1
SHORTENED = $(patsubst %,tests/%.c,catalog/test_results_int catalog/test_results_float catalog/test_results_double \
    cli/test_lecture cli/test_runs emulator/test_core_fuzz exercise/test_shipped exercise/test_submissions gpu/test_capture instrument/test_catalogue instrument/test_text \
    session/test_damaged session/test_rounding session/test_saved tui/test_adds_up tui/test_key_storm tui/test_lecture tui/test_quiz)
LEFT_OUT = $(patsubst %,tests/%.c,metrics/test_added_metric runtime/test_libraries)
# Programs that compile CUDA or ask ptxas: they differ where there is a toolkit.
TOOLKIT = $(patsubst %,tests/%.c,cli/test_build cli/test_cases cli/test_ci cli/test_cuda cli/test_exercise cli/test_guessed cli/test_invariant \
    cli/test_other_input cli/test_pipes cli/test_sass cli/test_source compile/test_compile exercise/test_grade ptx/test_check runtime/test_call runtime/test_ends \
    runtime/test_programs session/test_rounding sass/test_assemble sass/test_listing tui/test_edit tui/test_exercise tui/test_program)
# Under the sanitizers, what builds trees, or reads libraries, says nothing new; NVIDIA's cannot be opened there.
NOT_SANITIZED = $(wildcard tests/tree/test_*.c) $(patsubst %,tests/%.c,metrics/test_added_metric runtime/test_libraries exercise/test_shipped exercise/test_submissions \
    gpu/test_counter_names)
# Programs in which threads share data.
THREADED = $(patsubst %,tests/%.c,bench/test_cpu_reduce session/test_progress emulator/test_core_limits emulator/test_core_threads \
    runtime/test_ends session/test_session tui/test_background tui/test_measuring)
TESTS = $(patsubst %.c,$(O)/%,$(TEST_SOURCES))
HELPER_SOURCES = $(filter-out $(wildcard tests/*/test_*.c) tests/fuzz/% tests/bench/bench_% tests/device/%,$(wildcard tests/*/*.c))
HELPER_OBJECTS = $(patsubst %.c,$(O)/obj/%.o,$(HELPER_SOURCES))
STUBS = $(patsubst %,$(O)/tests/gpu/lib%_stub.so,cuda cuda_old cupti nccl nvml peers)
EMULATED_GPU = $(O)/tests/gpu/libcuda_emulated.so
EMULATED_OBJECTS = $(patsubst %.c,$(O)/pic/%.o,$(filter src/base/% src/ptx/% src/trace/% src/emulator/%,$(SOURCES)) \
    tests/gpu/stub/cuda_stub.c tests/gpu/stub/emulated.c)
# The CUDA library that the programs of --run load: one file under the names of NVIDIA's.
CUDA_LIBRARY = $(O)/cuda/libredviz_cuda.so
CUDA_NAMES = libcudart.so.11.0 libcudart.so.12 libcudart.so.13 libcudart.so libcuda.so.1 libcuda.so libnvJitLink.so.13 libnvJitLink.so
CUDA_OBJECTS = $(patsubst %.c,$(O)/pic/%.o,$(wildcard src/runtime/library/*.c) src/base/tensor_map.c)
BENCHES = $(patsubst %.c,$(O)/%,$(wildcard tests/bench/bench_*.c))
FORMATTED = $(filter-out src/gpu/peers.cu,$(shell git ls-files "*.[ch]" "*.cu"))

# What Python programs need beside it.
CUDA_PYTHON = $(O)/cuda/ptxas $(O)/cuda/python/sitecustomize.py

PROGRAM = $(O)/redviz
# The maintainer's program; it is not installed.
RECORDER = $(O)/redviz-record
all: $(PROGRAM) $(RECORDER) $(CUDA_LIBRARY) $(CUDA_PYTHON)

# If headers or libraries are missing, nothing is compiled, and one line says so.
NEEDS ?= $(O)/has_libraries
$(O)/has_libraries: scripts/deps.sh
	@CC="$(CC)" scripts/deps.sh --check build
	$(Q)mkdir -p $(@D) && touch $@

# The same for headers and libraries that only the tests need.
TEST_NEEDS ?= $(if $(NEEDS),$(O)/has_test_libraries)
$(O)/has_test_libraries: scripts/deps.sh
	@CC="$(CC)" scripts/deps.sh --check test
	$(Q)mkdir -p $(@D) && touch $@

static:
	@scripts/deps.sh build
	@$(SUBMAKE) O=build/static STATIC=1 all

help:
	@sed -n 's/^#: //p' Makefile

#: make [all]          build build/redviz, and build/redviz-record, which records what ships
#: make run            install missing packages, build, open the first kernel (without a terminal: print it)
#: make static         build build/static/redviz, which needs no library (and uses no GPU: NVIDIA's are dynamic)
#: make test           install missing packages, build, run all tests
#: make test-long      run in full the tests that make test shortens or leaves out
#: make test-toolkit   run the tests that compile CUDA or ask ptxas: they differ where there is a toolkit
#: make test-sanitize  run all tests under AddressSanitizer and UndefinedBehaviorSanitizer, built with clang
#: make test-threads   run the tests of threads under ThreadSanitizer, built with clang
#: make test-valgrind  run all tests under valgrind
#: make web            build build/web/redviz.html, the interface as one page; needs clang for WebAssembly, node and python3
#: make test-web       compare the page with the program, in node and in headless Chromium and Firefox
#: make test-html      step through the pages of --html in a headless Chromium; needs python3
#: make test-python    run scripts for Numba, CuPy, PyCUDA and Triton, installed into build/venv by pip
#: make suites         run public test suites from the folder SUITES; write assets/suites/README.md
#: make map            rewrite the lists of files in the documents, from the first sentence of each file
#: make goldens        rewrite the screens that tests compare with; review them with git diff
#: make lint           run clang-tidy and cppcheck; LINT_SINCE=COMMIT: only on sources changed since
#: make format         run clang-format; make format-check: fail if that would change a file
#: make musl-check     compile all but the interface with musl-gcc
#: make fuzz           fuzz PTX, its execution, --args, --launch, --expect, sessions, lectures, tables, messages, keys, FUZZ_SECONDS (60) each; or fuzz-run, ...
#: make mutate         put COUNT (300) faults, chosen by SEED, into a copy; the tests must find them
#: make bench          measure speed and memory on this machine
#: make device         build on_gpu, orders and waits of tests/device, for a machine with a GPU
#: make ptx            regenerate assets/ptx from kernels/; needs nvcc, and PYTHON=a python3 with Triton for kernels/*.py
#: make ptx-check      fail if assets/ptx is stale
#: make peers          build build/libredviz_peers.so, which adds CUB and thrust to --bench (needs nvcc);
#:                     CCCL=.../include takes a newer CCCL than the toolkit's
#: make deps           install the packages that building and testing need
#: make install        install into PREFIX (/usr/local); make uninstall removes it
#: make dist           pack the committed tree: build/redviz-VERSION.tar.gz
#: make deb            build a Debian package: build/redviz_VERSION_ARCHITECTURE.deb
#: make wheel          build build/wheel/redviz-*.whl, which pip installs without a compiler; needs pip's index;
#:                     WHEEL_MACHINE=aarch64 builds that of another machine
#: make test-wheel     build the wheel, install it in an empty environment and run it
#: make version        print the version
#: make clean          remove build/

run:
	@scripts/deps.sh build
	@$(SUBMAKE) all
	@if [ -t 0 ] && [ -t 1 ]; then $(O)/redviz --kernel interleaved; else \
	    $(O)/redviz --kernel interleaved --frame && $(O)/redviz --kernel interleaved --report; fi

test:
	@scripts/deps.sh build test clang
	@$(SUBMAKE) -k all tests || export REDVIZ_BROKEN=1; \
	    $(QUICK) REDVIZ_TEST_COMPILER="--compiler clang" tests/run_tests.sh $(O) $(filter-out $(LEFT_OUT),$(TEST_SOURCES))

test-toolkit:
	@scripts/deps.sh build test clang
	@$(SUBMAKE) -k all tests || export REDVIZ_BROKEN=1; $(QUICK) tests/run_tests.sh $(O) $(TOOLKIT)

test-long:
	@scripts/deps.sh build test clang
	@$(SUBMAKE) -k all tests || export REDVIZ_BROKEN=1; tests/run_tests.sh $(O) $(SHORTENED) $(LEFT_OUT)

tests: $(TESTS) $(STUBS) $(EMULATED_GPU)

map:
	$(Q)scripts/map.sh

goldens: all $(STUBS) $(patsubst %,$(O)/tests/tui/test_%,frames screens change wide openings pictures branches hazards tree timings grid warps cast svg ladder index program sass_panes matrix)
	@for test in $(filter $(O)/tests/tui/%,$^); do REDVIZ_REWRITE=1 REDVIZ_BIN=$(O)/redviz $$test || status=1; done; exit $${status:-0}

test-sanitize:
	@scripts/deps.sh build test fuzz
	@$(SUBMAKE) -k SANITIZE=1 CC=clang CFLAGS="$(SANITIZED_CFLAGS)" all tests || export REDVIZ_BROKEN=1; \
	    $(QUICK) REDVIZ_TEST_COMPILER="--compiler clang" tests/run_tests.sh build/sanitize $(filter-out $(NOT_SANITIZED),$(TEST_SOURCES))

test-threads:
	@scripts/deps.sh build test fuzz
	@$(SUBMAKE) -k SANITIZE=thread CC=clang CFLAGS="$(SANITIZED_CFLAGS)" all test-threads-programs || export REDVIZ_BROKEN=1; \
	    $(QUICK) TSAN_OPTIONS="suppressions=$(CURDIR)/tests/threads.supp report_thread_leaks=0" tests/run_tests.sh build/thread $(THREADED)

test-threads-programs: $(patsubst %.c,$(O)/%,$(THREADED)) $(STUBS) $(EMULATED_GPU)

test-valgrind:
	@scripts/deps.sh build test valgrind
	@$(SUBMAKE) -k all tests
	@$(QUICK) REDVIZ_TEST_SECONDS=7200 REDVIZ_UNDER="valgrind -q --error-exitcode=99 --leak-check=full" \
	    tests/run_tests.sh $(O) $(TEST_SOURCES)

test-html:
	@scripts/deps.sh build html
	@$(SUBMAKE) all
	@python3 tests/html/check_pages.py $(O)/redviz $(O)/html

PYTHON_VENV = build/venv
test-python:
	@scripts/deps.sh build
	@$(SUBMAKE) all
	@[ -f $(PYTHON_VENV)/installed -a ! tests/python/requirements.txt -nt $(PYTHON_VENV)/installed ] || \
	    { python3 -m venv $(PYTHON_VENV) && $(PYTHON_VENV)/bin/pip install -q -r tests/python/requirements.txt && \
	    touch $(PYTHON_VENV)/installed; } || { echo "test-python: pip cannot install tests/python/requirements.txt"; exit 1; }
	@python3 tests/python/run.py $(O)/redviz $(PYTHON_VENV)/bin/python

suites:
	@scripts/deps.sh build
	@$(SUBMAKE) all
	@REDVIZ_BIN=$(abspath $(O)/redviz) scripts/suites.sh "$(SUITES)"

bench:
	@scripts/deps.sh build
	@$(SUBMAKE) all $(BENCHES)
	@for bench in $(BENCHES); do REDVIZ_BIN=$(O)/redviz $$bench || exit 1; done

device: all $(O)/tests/device/on_gpu $(O)/tests/device/orders $(O)/tests/device/waits

ptx:
	@PYTHON="$(PYTHON)" scripts/make_ptx.sh

ptx-check:
	@scripts/make_ptx.sh --check

NVCC ?= $(or $(shell command -v nvcc 2>/dev/null),/usr/local/cuda/bin/nvcc)
peers: $(O)/libredviz_peers.so

$(O)/libredviz_peers.so: src/gpu/peers.cu src/gpu/peers.h
	$(SAY) "  nvcc     $@"
	$(Q)mkdir -p $(@D) && $(NVCC) -std=c++17 -O3 -shared -Xcompiler -fPIC -cudart static -Isrc $(CCCL:%=-I%) \
	    -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code='[sm_90,compute_90]' -o $@ $<

LINTED = $(SOURCES) $(wildcard web/*.c) $(wildcard src/runtime/library/*.c) $(TEST_SOURCES) $(HELPER_SOURCES) $(wildcard tests/bench/bench_*.c tests/fuzz/*.c)
lint:
	@scripts/deps.sh build test lint
	@scripts/lint.sh $(LINTED)

format:
	clang-format -i $(FORMATTED)

format-check:
	@scripts/deps.sh format
	@clang-format --dry-run -Werror $(FORMATTED)

musl-check:
	@scripts/deps.sh build musl
	@mkdir -p build/musl/include && cp "$$(echo '#include <sqlite3.h>' | $(CC) -E - | sed -n 's/^# 1 "\(.*sqlite3.h\)".*/\1/p')" build/musl/include
	@$(SUBMAKE) DEV=1 O=build/musl CC="musl-gcc -idirafter build/musl/include" CFLAGS="-O0 -Wno-format-truncation" NEEDS= musl-objects

musl-objects: $(filter-out $(O)/obj/tui/%,$(LIBRARY_OBJECTS))

# For FUZZ_SECONDS from a new seed; or, with FUZZ_SEED=1, the same inputs each time: as many as take about 10 seconds.
FUZZ_SECONDS ?= 60
fuzz-ptx fuzz-run: RUNS = 80000
fuzz-args fuzz-launch fuzz-expect: RUNS = 1000000
fuzz-lecture: RUNS = 30000
fuzz-text: RUNS = 180000
fuzz-messages: RUNS = 3000
fuzz-keys: RUNS = 500
fuzz-session: RUNS = 9000
FUZZ = $(Q)mkdir -p build/fuzz/$@ && clang -std=c11 -D_POSIX_C_SOURCE=200809L $(SANITIZED_CFLAGS) -w $(SANITIZERS) -fsanitize=fuzzer -I. -Isrc \
    -o build/fuzz/fuzz_$(@:fuzz-%=%) tests/fuzz/fuzz_$(@:fuzz-%=%).c build/sanitize/libredviz.a $(LIBRARIES)
FUZZ_RUN = $(if $(FUZZ_SEED),-seed=$(FUZZ_SEED) -runs=$(RUNS),-max_total_time=$(FUZZ_SECONDS)) -artifact_prefix=build/fuzz/ build/fuzz/$@
fuzz: fuzz-ptx fuzz-run fuzz-args fuzz-launch fuzz-expect fuzz-session fuzz-lecture fuzz-text fuzz-messages fuzz-keys

# All of redviz but its mains, for every fuzzer: the objects of test-sanitize.
fuzz-library:
	@scripts/deps.sh build fuzz
	@$(SUBMAKE) SANITIZE=1 CC=clang CFLAGS="$(SANITIZED_CFLAGS)" build/sanitize/libredviz.a

fuzz-ptx: fuzz-library
	$(FUZZ)
	build/fuzz/fuzz_ptx -max_len=8192 -timeout=10 -dict=tests/fuzz/ptx.dict $(FUZZ_RUN) tests/fuzz/corpus assets/ptx

fuzz-args: fuzz-library
	$(FUZZ)
	@printf "1in=float[n]:random, out=float[grid*4], k=n/2, 1e-3" >build/fuzz/$@/seed
	@printf "5{in=float[n], null, {n, 0u, (char)1}, &in[7], 3.5f, 2l}, {}, {1, {2}}" >build/fuzz/$@/structures
	@printf "0in=float[4096], tensor(in, {64, 64}, {32, 8}, 128), tensor(t=half[n], {8, n/8}, {8, 1})" >build/fuzz/$@/tensors
	build/fuzz/fuzz_args -max_len=512 -timeout=5 $(FUZZ_RUN)

fuzz-launch: fuzz-library
	$(FUZZ)
	@printf "k<<<(n + 255) / 256, (16, 16), 4 * block, cluster=2>>>(in=float[n], &in[7], n); s<<<1, 32>>>({in, 3.5f}, {})" >build/fuzz/$@/seed
	build/fuzz/fuzz_launch -max_len=512 -timeout=5 $(FUZZ_RUN)

fuzz-expect: fuzz-library
	$(FUZZ)
	@printf "1out=rowsum(in, 20)" >build/fuzz/$@/rows
	@printf "2dot(in, other)" >build/fuzz/$@/dot
	@printf "5histogram(in)" >build/fuzz/$@/histogram
	build/fuzz/fuzz_expect -max_len=256 -timeout=5 $(FUZZ_RUN)

fuzz-lecture: fuzz-library
	$(FUZZ)
	@mkdir -p build/fuzz/$@/seeds && for file in tests/data/lectures/*.md assets/lectures/*.md; do \
	    { printf 1; cat $$file; } >build/fuzz/$@/seeds/$$(basename $$file); done
	@grep -h "[=<>]" assets/lectures/README.md tests/data/lectures/*.md | sed 's/^ *//; s/^/0/' | \
	    split -l 1 -a 3 - build/fuzz/$@/seeds/claim
	build/fuzz/fuzz_lecture -max_len=32768 -timeout=10 -dict=tests/fuzz/lecture.dict $(FUZZ_RUN) build/fuzz/$@/seeds

fuzz-run: fuzz-library
	$(FUZZ)
	build/fuzz/fuzz_run -max_len=8192 -timeout=20 -rss_limit_mb=4096 -dict=tests/fuzz/ptx.dict $(FUZZ_RUN) tests/fuzz/corpus

# The first byte selects the parser, the rest is the text.
fuzz-text: fuzz-library
	$(FUZZ)
	@{ printf 0; head -n 30 tests/data/warp_access_counts.csv; } >build/fuzz/$@/table
	@{ printf 1; printf 'a.cu(3): error: x\n    y = 1;\n    ^\n\nb.cu:4:5: fatal error: z\n'; } >build/fuzz/$@/messages
	@for file in kernels/*.cu tests/kernels/*.cu; do { printf 2; cat $$file; } >build/fuzz/$@/$$(basename $$file); done
	@for kernel in shuffle cooperative; do { printf 3; head -c 8000 assets/h100/warps/$$kernel.tsv; } >build/fuzz/$@/$$kernel.tsv; done
	build/fuzz/fuzz_text -max_len=8192 -timeout=10 $(FUZZ_RUN)

# Launches of both kernels, a copy, and an allocation that is freed.
fuzz-messages: fuzz-library
	$(FUZZ)
	@printf '\1\10\0\0' >build/fuzz/$@/sync
	@{ printf '\2\7\124\0\0\0\0\0'; for i in 1 2 3 4 5 6 7 8 9; do printf '\1\0\0\0'; done; head -c 24 /dev/zero; printf '\14\0\0\0\0\0\0\0'; \
	    printf '\0\0\0\0\0\0\0\0\5\0\0\0\10\0\0'; } >build/fuzz/$@/launch
	@{ printf '\1\2\30\0\0\20\0\0\0\0\0\0'; head -c 16 /dev/zero; printf '\3\20\0\0\0\2\0\0\0\0\0'; head -c 8 /dev/zero; } >build/fuzz/$@/memory
	@printf '\0\1\0\0\0\40\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\40\0\0\0\0\0\4\0\0\0\0\0\0\0\0\0\0\0\0' >build/fuzz/$@/hello
	build/fuzz/fuzz_messages -max_len=4096 -timeout=20 -rss_limit_mb=4096 $(FUZZ_RUN)

fuzz-keys: fuzz-library
	$(FUZZ)
	@i=0; for keys in 'lll]]hh' '?K<Down><Enter>' 'crr' 'B<Right>a' 'p<Down>7<Enter>' '/add<Enter>nN' ':74<Enter>' 'tTuUVzHAP' 'm1G'; do \
	    i=$$((i + 1)); printf '%s%s' $$i "$$keys" >build/fuzz/$@/keys$$i; done
	build/fuzz/fuzz_keys -max_len=64 -timeout=60 -rss_limit_mb=4096 $(FUZZ_RUN)

fuzz-session: all fuzz-library
	$(FUZZ)
	@for kernel in interleaved shuffle atomic bug_missing_sync; do \
	    $(O)/redviz --kernel $$kernel --n 64 --block 64 --save build/fuzz/$@/$$kernel.redviz --report >/dev/null; done; true
	build/fuzz/fuzz_session -max_len=400000 -len_control=0 -timeout=20 -rss_limit_mb=4096 $(FUZZ_RUN)

version:
	@echo $(VERSION)

mutate: deps ; @scripts/mutate.sh

deps:
	@scripts/deps.sh build test

# Documents that redviz prints from its own tables: the manual page and the completions. GENERATOR: it runs here.
GENERATED = $(addprefix $(O)/generated/,man bash zsh fish)
GENERATOR = $(PROGRAM)
$(GENERATED): $(GENERATOR)
	$(Q)mkdir -p $(@D) && $(GENERATOR) --generate $(@F) >$@

BIN = $(DESTDIR)$(PREFIX)/bin
LIB = $(DESTDIR)$(PREFIX)/lib
SHARE = $(DESTDIR)$(PREFIX)/share
MAN = $(SHARE)/man/man1
BASH_COMPLETIONS = $(SHARE)/bash-completion/completions
ZSH_COMPLETIONS = $(SHARE)/zsh/site-functions
FISH_COMPLETIONS = $(SHARE)/fish/vendor_completions.d

# The folders of assets, and an install command for the files of each.
ASSETS = $(shell find assets -mindepth 1 -type d | sort)
define INSTALL_ASSETS
install -m 644 $(shell find $(1) -maxdepth 1 -type f | sort) $(SHARE)/redviz/$(1)

endef

install: $(PROGRAM) $(CUDA_LIBRARY) $(CUDA_PYTHON) $(GENERATED)
	install -d $(BIN) $(SHARE)/redviz/kernels $(addprefix $(SHARE)/redviz/,$(ASSETS)) \
	    $(MAN) $(BASH_COMPLETIONS) $(ZSH_COMPLETIONS) $(FISH_COMPLETIONS)
	install -m 755 $(PROGRAM) $(BIN)/redviz
	@if [ -f $(O)/libredviz_peers.so ]; then install -d $(LIB) && \
	    install -m 755 $(O)/libredviz_peers.so $(LIB)/libredviz_peers.so; fi
	install -d $(LIB)/redviz/cuda $(LIB)/redviz/cuda/python
	install -m 755 $(CUDA_LIBRARY) $(O)/cuda/ptxas $(LIB)/redviz/cuda
	install -m 644 $(O)/cuda/python/sitecustomize.py $(LIB)/redviz/cuda/python
	for name in $(CUDA_NAMES); do ln -sf libredviz_cuda.so $(LIB)/redviz/cuda/$$name; done
	install -m 644 kernels/* $(SHARE)/redviz/kernels
	$(foreach folder,$(ASSETS),$(call INSTALL_ASSETS,$(folder)))
	install -m 644 $(O)/generated/man $(MAN)/redviz.1
	install -m 644 $(O)/generated/bash $(BASH_COMPLETIONS)/redviz
	install -m 644 $(O)/generated/zsh $(ZSH_COMPLETIONS)/_redviz
	install -m 644 $(O)/generated/fish $(FISH_COMPLETIONS)/redviz.fish

uninstall:
	rm -rf $(BIN)/redviz $(SHARE)/redviz $(LIB)/redviz $(LIB)/libredviz_peers.so $(MAN)/redviz.1 $(BASH_COMPLETIONS)/redviz \
	    $(ZSH_COMPLETIONS)/_redviz $(FISH_COMPLETIONS)/redviz.fish

dist:
	@mkdir -p build
	git archive --prefix=redviz-$(VERSION)/ -o build/redviz-$(VERSION).tar.gz HEAD

deb:
	@scripts/deps.sh build deb
	@rm -rf build/deb && $(SUBMAKE) install O=build/deb PREFIX=/usr DESTDIR=build/deb/root \
	    ZSH_COMPLETIONS=build/deb/root/usr/share/zsh/vendor-completions >/dev/null
	@scripts/make_deb.sh build/deb/root $(VERSION)

# Zig (from PyPI) links with the symbols of an old glibc, for any machine; WHEEL_CC=cc: for this machine, with its glibc.
# WHEEL_MACHINE=aarch64 takes curses and SQLite of that machine, in /usr/lib/aarch64-linux-gnu.
ZIG = build/ziglang
THIS_MACHINE := $(shell uname -m)
WHEEL_MACHINE ?= $(THIS_MACHINE)
WHEEL_CC ?= $(CURDIR)/$(ZIG)/bin/python -m ziglang cc -target $(WHEEL_MACHINE)-linux-gnu.2.28 -UNDEBUG -idirafter /usr/include
WHEEL_OUT = $(if $(findstring ziglang,$(WHEEL_CC)),build/zig/$(WHEEL_MACHINE),$(O))
WHEEL_LIBRARY = $(if $(filter $(THIS_MACHINE),$(WHEEL_MACHINE)),$(shell cc -print-file-name=lib$(1).a),/usr/lib/$(WHEEL_MACHINE)-linux-gnu/lib$(1).a)
wheel:
	@scripts/deps.sh build wheel
	@[ -f $(call WHEEL_LIBRARY,sqlite3) -a -f $(call WHEEL_LIBRARY,ncursesw) ] || { echo "wheel: libncursesw.a or libsqlite3.a of \
	    $(WHEEL_MACHINE) is missing; Debian: dpkg --add-architecture arm64 && apt-get update && \
	    apt-get install libncurses-dev:arm64 libsqlite3-dev:arm64" | tr -s ' \t'; exit 1; }
	@[ $(WHEEL_OUT) = $(O) -o -f $(ZIG)/installed ] || { python3 -m venv $(ZIG) && \
	    $(ZIG)/bin/pip install -q ziglang==0.17.1 && touch $(ZIG)/installed; } || \
	    { echo "wheel: pip cannot install ziglang; WHEEL_CC=cc does without"; exit 1; }
	@[ $(WHEEL_MACHINE) = $(THIS_MACHINE) ] || $(SUBMAKE) $(O)/redviz
	@rm -rf build/wheel && $(SUBMAKE) install NEEDS= CC="$(WHEEL_CC)" O=$(WHEEL_OUT) \
	    PROGRAM=$(WHEEL_OUT)/portable/redviz $(if $(filter-out $(THIS_MACHINE),$(WHEEL_MACHINE)),GENERATOR=$(O)/redviz) LDFLAGS=-s DESTDIR=build/wheel PREFIX=/redviz >/dev/null
	@python3 scripts/make_wheel.py build/wheel/redviz build/wheel

test-wheel: wheel
	@python3 tests/wheel/check_wheel.py build/wheel/*.whl

# The program for a web page, compiled to WebAssembly (web/README.md); web/ has what replaces files of the program.
WEB = build/web
WEB_CC ?= clang --target=wasm32-wasi
WEB_FLAGS = -nostdlibinc -isystem web/include -isystem /usr/include/wasm32-wasi -include web/include/missing.h -std=gnu11 -Oz -flto -mbulk-memory -Wall -Wextra -Wno-unused-parameter -Wno-shift-count-overflow -ffp-contract=off -I. -Isrc -MD -MP $(addprefix -D_WASI_EMULATED_,SIGNAL \
    PROCESS_CLOCKS MMAN GETPID)
WEB_REPLACED = src/base/interrupt.c src/compile/process.c src/exercise/grade_class.c $(addprefix src/runtime/,emulated_device.c emulated_launch.c emulated_memory.c \
    executable.c fatbin.c host_lines.c linking.c serve.c user_program.c) $(addprefix tui/draw/,terminal.c terminal_text.c tty_output.c status_report.c)
WEB_SOURCES = $(filter-out src/record_main.c $(WEB_REPLACED),$(SOURCES)) $(wildcard web/*.c)
WEB_OBJECTS = $(patsubst %.c,$(WEB)/obj/%.o,$(WEB_SOURCES))

web:
	@scripts/deps.sh web
	@$(SUBMAKE) $(WEB)/redviz.html

test-web: web
	@scripts/deps.sh build html
	@scripts/deps.sh firefox 2>/dev/null || : # without it, the page is checked in Chromium alone
	@$(SUBMAKE) all
	@node tests/web/check_programs.js $(WEB)/redviz.wasm $(O)/redviz
	@python3 tests/web/check_page.py $(WEB)/redviz.html $(O)/redviz

$(WEB)/redviz.html: $(WEB)/redviz.wasm scripts/make_web.py $(wildcard web/*.js web/page.* assets/html/frames.js assets/exercises/*.md assets/lectures/*.*)
	@python3 scripts/make_web.py $< $(VERSION) $@

$(WEB)/redviz.wasm: $(WEB_OBJECTS)
	$(SAY) "  link     $@"
	$(Q)$(WEB_CC) -o $@ $^ -Wl,--gc-sections,--strip-all,-z,stack-size=8388608 $(addprefix -lwasi-emulated-,signal process-clocks mman getpid) -lc-printscan-long-double

$(WEB)/obj/src/bench/cpu_team.o $(WEB)/obj/tui/measuring.o: WEB_FLAGS += -DWEB_NO_THREADS
$(WEB)/obj/src/emulator/%.o $(WEB)/obj/src/plan/%.o: WEB_FLAGS += -O2
$(WEB)/obj/%.o: %.c Makefile
	$(SAY) "  compile  $< (web)"
	$(Q)mkdir -p $(@D) && $(WEB_CC) $(WEB_FLAGS) -c -o $@ $<
-include $(WEB_OBJECTS:.o=.d)

clean:
	rm -rf build

# What the wheel has: it needs nothing but glibc.
$(O)/portable/redviz: LIBRARIES = $(foreach name,ncursesw tinfo sqlite3,$(call WHEEL_LIBRARY,$(name))) -lm -pthread -ldl
$(O)/redviz $(O)/portable/redviz: $(O)/obj/src/main.o
$(O)/redviz-record: $(O)/obj/src/record_main.o
$(O)/redviz $(O)/portable/redviz $(O)/redviz-record: $(LIBRARY)
	$(SAY) "  link     $@"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(FLAGS) $(HARD_LINK) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBRARY) $(LIBRARIES)

$(LIBRARY): $(LIBRARY_OBJECTS)
	$(SAY) "  archive  $@"
	$(Q)rm -f $@ && $(AR) qcs $@ $^

$(O)/helpers.a: $(HELPER_OBJECTS)
	$(Q)rm -f $@ && $(AR) qcs $@ $^

$(TESTS): $(O)/tests/%: $(O)/obj/tests/%.o $(O)/helpers.a $(LIBRARY)
	$(SAY) "  link     $@"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(FLAGS) $(HARD_LINK) $(LDFLAGS) -o $@ $^ -lcmocka -lvterm $(LIBRARIES)

# Stubs of NVIDIA's libraries, which the tests of src/gpu load. The old driver lacks the functions of CUDA 12.
$(O)/tests/gpu/libcuda_old_stub.so: STUB_FLAGS = -DSTUB_OLD
$(O)/tests/gpu/libcuda_old_stub.so: tests/gpu/stub/cuda_stub.c
$(O)/tests/gpu/libcupti_stub.so: src/gpu/cupti.h src/gpu/cupti.def
$(O)/tests/gpu/libpeers_stub.so: src/gpu/peers.h
$(filter-out %_old_stub.so,$(STUBS)): $(O)/tests/gpu/lib%.so: tests/gpu/stub/%.c
$(STUBS): Makefile tests/gpu/stub/cuda_stub.h
	$(SAY) "  link     $@"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) -std=c11 -Isrc -fPIC -shared -Wall $(STUB_FLAGS) -o $@ $(filter %.c,$^)

# A stub driver that runs kernels on the emulator, to test capture and --backend gpu without a GPU.
$(EMULATED_GPU): $(EMULATED_OBJECTS)
	$(SAY) "  link     $@"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) -shared -Wl,-Bsymbolic -o $@ $^ -lsqlite3 -lm -pthread

# -z nodelete: signal handlers and threads of the library stay valid after dlclose(). Its version script gives it the version nodes of all three libcudart.
$(CUDA_LIBRARY): $(CUDA_OBJECTS) src/runtime/library/exports.map
	$(SAY) "  link     $@"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) -shared -Wl,-Bsymbolic -Wl,-z,nodelete -Wl,--version-script=src/runtime/library/exports.map $(LDFLAGS) \
	    -o $@ $(CUDA_OBJECTS) -pthread -ldl
	$(Q)for name in $(CUDA_NAMES); do ln -sf libredviz_cuda.so $(@D)/$$name; done

$(CUDA_PYTHON): $(O)/cuda/%: src/runtime/library/%
	$(Q)mkdir -p $(@D) && cp $< $@

$(O)/pic/src/runtime/library/%.o $(O)/pic/src/base/tensor_map.o: FLAGS += -fvisibility=hidden
$(O)/pic/%.o: %.c Makefile
	$(SAY) "  compile  $<"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(filter-out -fsanitize% -fno-sanitize%,$(FLAGS)) -fPIC -Wno-unused-parameter -DSTUB_EMULATES -c -o $@ $<

$(O)/tests/device/%: $(O)/obj/tests/device/%.o $(O)/helpers.a $(LIBRARY)
	$(SAY) "  link     $@"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(FLAGS) $(HARD_LINK) $(LDFLAGS) -o $@ $^ $(LIBRARIES)

$(BENCHES): $(O)/tests/%: $(O)/obj/tests/%.o $(O)/helpers.a $(LIBRARY)
	$(SAY) "  link     $@"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(FLAGS) $(HARD_LINK) $(LDFLAGS) -o $@ $^ $(LIBRARIES)

# -O3 vectorizes the loops over lanes.
ifneq ($(or $(SANITIZE),$(filter -O0,$(CFLAGS))),)
VECTORIZE = -fno-trapping-math
else
VECTORIZE = -O3 -fno-trapping-math
endif
$(O)/obj/src/emulator/%.o: CFLAGS += $(VECTORIZE)
$(O)/obj/src/bench/cpu_reduce.o $(O)/obj/src/plan/loops.o: CFLAGS += $(VECTORIZE)
# The commit, for --version; "-changed": the working tree has uncommitted changes.
COMMIT := $(shell git describe --always --abbrev=40 --exclude='*' --dirty=-changed 2>/dev/null)
$(O)/obj/src/main.o: FLAGS += -DREDVIZ_COMMIT='"$(COMMIT)"'
$(O)/obj/src/main.o: $(O)/commit_$(COMMIT)
$(O)/commit_$(COMMIT):
	$(Q)mkdir -p $(@D) && rm -f $(O)/commit_* && touch $@
$(O)/obj/src/catalog/catalog.o: FLAGS += -DREDVIZ_SHARE_DIR='"$(PREFIX)/share/redviz"'

$(O)/obj/%.o: %.c Makefile | $(NEEDS)
	$(SAY) "  compile  $<"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(FLAGS) -c -o $@ $<

.SECONDARY:
.PHONY: all static help web test-web run test test-toolkit test-long test-python tests map goldens test-sanitize test-threads test-threads-programs test-valgrind test-html suites bench device ptx ptx-check peers lint format format-check \
    musl-check musl-objects fuzz mutate version deps install uninstall dist deb wheel test-wheel clean
# Tests need cmocka and libvterm to compile.
$(TESTS:$(O)/tests/%=$(O)/obj/tests/%.o) $(HELPER_OBJECTS): | $(TEST_NEEDS)
-include $(LIBRARY_OBJECTS:.o=.d) $(EMULATED_OBJECTS:.o=.d) $(CUDA_OBJECTS:.o=.d) $(HELPER_OBJECTS:.o=.d) $(MAINS:%.c=$(O)/obj/%.d) $(patsubst $(O)/tests/%,$(O)/obj/tests/%.d,$(TESTS) $(BENCHES))
