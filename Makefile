# redviz. `make run` and `make test` install missing packages and do the rest; `make help` lists the targets.
#
# Variables: V=1 shows the commands, DEV=1 makes warnings errors, SANITIZE=1 builds with ASan and UBSan into
# build/sanitize, JOBS is the number of parallel compilations and tests, PREFIX is where `make install`
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
ifdef SANITIZE
O = build/sanitize
FLAGS += -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
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

# All files but main.c form one archive; the program and every test program link with it. A .c file in tests/
# that is not a test program (test_*.c), fuzzer or benchmark is a helper of the tests.
SOURCES = $(wildcard src/main.c src/*/*.c src/*/*/*.c tui/*.c tui/*/*.c)
LIBRARY = $(O)/libredviz.a
LIBRARY_OBJECTS = $(patsubst %.c,$(O)/obj/%.o,$(filter-out src/main.c,$(SOURCES)))
TEST_SOURCES = $(wildcard tests/*/test_*.c)
# Programs that take more than 10 s of CPU time: `make test` runs some with small sizes and leaves others out,
# `make test-long` runs all of them in full.
SHORTENED = $(patsubst %,tests/%.c,catalog/test_results_int catalog/test_results_float catalog/test_results_double \
    cli/test_lecture cli/test_runs emulator/test_core_fuzz gpu/test_capture instrument/test_catalogue instrument/test_text \
    session/test_damaged session/test_saved tui/test_lecture tui/test_quiz)
LEFT_OUT = $(patsubst %,tests/%.c,cli/test_first_command cli/test_hostile cli/test_trials metrics/test_added_metric)
TESTS = $(patsubst %.c,$(O)/%,$(TEST_SOURCES))
HELPER_SOURCES = $(filter-out $(TEST_SOURCES) tests/fuzz/% tests/bench/bench_% tests/device/%,$(wildcard tests/*/*.c))
HELPER_OBJECTS = $(patsubst %.c,$(O)/obj/%.o,$(HELPER_SOURCES))
STUBS = $(patsubst %,$(O)/tests/gpu/lib%_stub.so,cuda cuda_old cupti nccl nvml peers)
EMULATED_GPU = $(O)/tests/gpu/libcuda_emulated.so
EMULATED_OBJECTS = $(patsubst %.c,$(O)/pic/%.o,$(filter src/base/% src/ptx/% src/trace/% src/emulator/%,$(SOURCES)) \
    tests/gpu/stub/cuda_stub.c tests/gpu/stub/emulated.c)
BENCHES = $(patsubst %.c,$(O)/%,$(wildcard tests/bench/bench_*.c))
FORMATTED = $(filter-out src/gpu/peers.cu,$(shell git ls-files "*.[ch]" "*.cu"))

all: $(O)/redviz

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

#: make [all]          build build/redviz
#: make run            install missing packages, build, open the first kernel (without a terminal: print it)
#: make static         build build/static/redviz, which needs no library (and uses no GPU: NVIDIA's are dynamic)
#: make test           install missing packages, build, run all tests
#: make test-long      run in full the tests that make test shortens or leaves out
#: make test-sanitize  run all tests under AddressSanitizer and UndefinedBehaviorSanitizer
#: make test-valgrind  run all tests under valgrind
#: make test-html      step through the pages of --html in a headless Chromium; needs python3
#: make map            rewrite the lists of files in the documents, from the first sentence of each file
#: make goldens        rewrite the screens that tests compare with; review them with git diff
#: make lint           run clang-tidy and cppcheck; LINT_SINCE=COMMIT: only on sources changed since
#: make format         run clang-format; make format-check: fail if that would change a file
#: make musl-check     compile all but the interface with musl-gcc
#: make fuzz           fuzz PTX, its execution, --args, --launch, --expect, sessions, lectures, tables, keys, FUZZ_SECONDS (60) each; or fuzz-run, ...
#: make mutate         put COUNT (300) faults, chosen by SEED, into a copy; the tests must find them
#: make bench          measure speed and memory on this machine
#: make device         build tests/device/on_gpu, for a machine with a GPU
#: make ptx            regenerate assets/ptx from kernels/; needs nvcc, and PYTHON=a python3 with Triton for kernels/*.py
#: make ptx-check      fail if assets/ptx is stale
#: make peers          build build/libredviz_peers.so, which adds CUB and thrust to --bench (needs nvcc)
#: make deps           install the packages that building and testing need
#: make install        install into PREFIX (/usr/local); make uninstall removes it
#: make dist           pack the committed tree: build/redviz-VERSION.tar.gz
#: make deb            build a Debian package: build/redviz_VERSION_ARCHITECTURE.deb
#: make version        print the version
#: make clean          remove build/

run:
	@scripts/deps.sh build
	@$(SUBMAKE) all
	@if [ -t 0 ] && [ -t 1 ]; then $(O)/redviz --kernel interleaved; else \
	    $(O)/redviz --kernel interleaved --frame && $(O)/redviz --kernel interleaved --report; fi

test:
	@scripts/deps.sh build test
	@$(SUBMAKE) -k all tests || export REDVIZ_BROKEN=1; \
	    REDVIZ_TEST_LIMIT=$${REDVIZ_TEST_LIMIT-4096} tests/run_tests.sh $(O) $(filter-out $(LEFT_OUT),$(TEST_SOURCES))

test-long:
	@scripts/deps.sh build test
	@$(SUBMAKE) -k all tests || export REDVIZ_BROKEN=1; tests/run_tests.sh $(O) $(SHORTENED) $(LEFT_OUT)

tests: $(TESTS) $(STUBS) $(EMULATED_GPU)

map:
	$(Q)scripts/map.sh

goldens: all $(STUBS) $(patsubst %,$(O)/tests/tui/test_%,frames screens wide openings pictures hazards tree timings grid cast svg ladder sass_panes matrix)
	@for test in $(filter $(O)/tests/tui/%,$^); do REDVIZ_REWRITE=1 REDVIZ_BIN=$(O)/redviz $$test || status=1; done; exit $${status:-0}

test-sanitize:
	@$(MAKE) --no-print-directory test SANITIZE=1 LEFT_OUT= REDVIZ_TEST_LIMIT=65536

test-valgrind:
	@scripts/deps.sh build test valgrind
	@$(SUBMAKE) -k all tests
	@REDVIZ_TEST_LIMIT=4096 REDVIZ_TEST_SECONDS=7200 REDVIZ_UNDER="valgrind -q --error-exitcode=99 --leak-check=full" \
	    tests/run_tests.sh $(O) $(TEST_SOURCES)

test-html:
	@scripts/deps.sh build html
	@$(SUBMAKE) all
	@python3 tests/html/check_pages.py $(O)/redviz $(O)/html

bench:
	@scripts/deps.sh build
	@$(SUBMAKE) all $(BENCHES)
	@for bench in $(BENCHES); do REDVIZ_BIN=$(O)/redviz $$bench || exit 1; done

device: all $(O)/tests/device/on_gpu

ptx:
	@PYTHON="$(PYTHON)" scripts/make_ptx.sh

ptx-check:
	@scripts/make_ptx.sh --check

NVCC ?= $(or $(shell command -v nvcc 2>/dev/null),/usr/local/cuda/bin/nvcc)
peers: $(O)/libredviz_peers.so

$(O)/libredviz_peers.so: src/gpu/peers.cu src/gpu/peers.h
	$(SAY) "  nvcc     $@"
	$(Q)mkdir -p $(@D) && $(NVCC) -std=c++17 -O3 -shared -Xcompiler -fPIC -cudart static -Isrc \
	    -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code='[sm_90,compute_90]' -o $@ $<

LINTED = $(SOURCES) $(TEST_SOURCES) $(HELPER_SOURCES) $(wildcard tests/bench/bench_*.c tests/fuzz/*.c)
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
	@$(SUBMAKE) DEV=1 O=build/musl CC="musl-gcc -idirafter build/musl/include" NEEDS= musl-objects

musl-objects: $(filter-out $(O)/obj/tui/%,$(LIBRARY_OBJECTS))

FUZZ_SECONDS ?= 60
FUZZ = $(Q)mkdir -p build/fuzz/$@ && clang -std=c11 -D_POSIX_C_SOURCE=200809L -g -O1 -fsanitize=fuzzer,address,undefined -w \
    -fno-sanitize-recover=all -I. -Isrc -o build/fuzz/fuzz_$(@:fuzz-%=%) tests/fuzz/fuzz_$(@:fuzz-%=%).c
FUZZ_RUN = -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=build/fuzz/ build/fuzz/$@
fuzz: fuzz-ptx fuzz-run fuzz-args fuzz-launch fuzz-expect fuzz-session fuzz-lecture fuzz-text fuzz-keys

fuzz-deps:
	@scripts/deps.sh build fuzz

fuzz-ptx: fuzz-deps
	$(FUZZ) $(filter src/ptx/% src/base/%,$(SOURCES)) -lm
	build/fuzz/fuzz_ptx -max_len=8192 -timeout=10 -dict=tests/fuzz/ptx.dict $(FUZZ_RUN) tests/fuzz/corpus assets/ptx

fuzz-args: fuzz-deps
	$(FUZZ) $(filter src/ptx/% src/base/% src/plan/% src/expect/% src/catalog/%,$(SOURCES)) -lm
	@printf "0in=float[n]:random, out=float[grid*4], k=n/2, 1e-3" >build/fuzz/$@/seed
	@printf "3{in=float[n], null, {n, 0u, (char)1}, &in[7], 3.5f, 2l}, {}, {1, {2}}" >build/fuzz/$@/structures
	build/fuzz/fuzz_args -max_len=512 -timeout=5 $(FUZZ_RUN)

fuzz-launch: fuzz-deps
	$(FUZZ) $(filter src/ptx/% src/base/% src/plan/% src/expect/% src/catalog/%,$(SOURCES)) -lm
	@printf "k<<<(n + 255) / 256, (16, 16), 4 * block, cluster=2>>>(in=float[n], &in[7], n); s<<<1, 32>>>({in, 3.5f}, {})" >build/fuzz/$@/seed
	build/fuzz/fuzz_launch -max_len=512 -timeout=5 $(FUZZ_RUN)

fuzz-expect: fuzz-deps
	$(FUZZ) $(filter src/ptx/% src/base/% src/plan/% src/expect/% src/catalog/%,$(SOURCES)) -lm
	@printf "1out=rowsum(in, 20)" >build/fuzz/$@/rows
	@printf "2dot(in, other)" >build/fuzz/$@/dot
	@printf "5histogram(in)" >build/fuzz/$@/histogram
	build/fuzz/fuzz_expect -max_len=256 -timeout=5 $(FUZZ_RUN)

fuzz-lecture: fuzz-deps
	$(FUZZ) $(filter src/base/% src/ptx/% src/trace/% src/sass/% src/metrics/% src/findings/% src/report/% src/plan/% src/expect/% src/catalog/% src/compile/%,$(SOURCES)) \
	    $(filter-out %/values.c %/times.c,$(filter src/lecture/%,$(SOURCES))) $(LIBRARIES)
	@mkdir -p build/fuzz/$@/seeds && for file in tests/data/lectures/*.md assets/lectures/*.md; do \
	    { printf 1; cat $$file; } >build/fuzz/$@/seeds/$$(basename $$file); done
	@grep -h "[=<>]" assets/lectures/README.md tests/data/lectures/*.md | sed 's/^ *//; s/^/0/' | \
	    split -l 1 -a 3 - build/fuzz/$@/seeds/claim
	build/fuzz/fuzz_lecture -max_len=32768 -timeout=10 -dict=tests/fuzz/lecture.dict $(FUZZ_RUN) build/fuzz/$@/seeds

fuzz-run: fuzz-deps
	$(FUZZ) $(filter-out src/main.c,$(SOURCES)) $(LIBRARIES)
	build/fuzz/fuzz_run -max_len=8192 -timeout=20 -rss_limit_mb=4096 -dict=tests/fuzz/ptx.dict $(FUZZ_RUN) tests/fuzz/corpus

# The first byte selects the parser, the rest is the text.
fuzz-text: fuzz-deps
	$(FUZZ) $(filter src/base/% src/ptx/% src/trace/% src/sass/% src/metrics/% src/findings/% src/report/% src/plan/% src/expect/% src/catalog/% src/compile/%,$(SOURCES)) $(LIBRARIES)
	@{ printf 0; head -n 30 tests/data/warp_access_counts.csv; } >build/fuzz/$@/table
	@{ printf 1; printf 'a.cu(3): error: x\n    y = 1;\n    ^\n\nb.cu:4:5: fatal error: z\n'; } >build/fuzz/$@/messages
	@for file in kernels/*.cu tests/kernels/*.cu; do { printf 2; cat $$file; } >build/fuzz/$@/$$(basename $$file); done
	build/fuzz/fuzz_text -max_len=8192 -timeout=10 $(FUZZ_RUN)

fuzz-keys: fuzz-deps
	$(FUZZ) $(filter-out src/main.c,$(SOURCES)) $(LIBRARIES)
	@i=0; for keys in 'lll]]hh' '?K<Down><Enter>' 'crr' 'B<Right>a' 'p<Down>7<Enter>' '/add<Enter>nN' ':74<Enter>' 'tTuUVzHAP' 'm1G'; do \
	    i=$$((i + 1)); printf '%s%s' $$i "$$keys" >build/fuzz/$@/keys$$i; done
	build/fuzz/fuzz_keys -max_len=64 -timeout=60 -rss_limit_mb=4096 $(FUZZ_RUN)

fuzz-session: all
	$(FUZZ) $(filter-out src/main.c,$(SOURCES)) $(LIBRARIES)
	@for kernel in interleaved shuffle atomic bug_missing_sync; do \
	    $(O)/redviz --kernel $$kernel --n 64 --block 64 --save build/fuzz/$@/$$kernel.redviz --report >/dev/null; done; true
	build/fuzz/fuzz_session -max_len=400000 -len_control=0 -timeout=20 -rss_limit_mb=4096 $(FUZZ_RUN)

version:
	@echo $(VERSION)

mutate: deps ; @scripts/mutate.sh

deps:
	@scripts/deps.sh build test

# Documents that redviz prints from its own tables: the manual page and the completions.
GENERATED = $(addprefix $(O)/generated/,man bash zsh fish)
$(GENERATED): $(O)/redviz
	$(Q)mkdir -p $(@D) && $(O)/redviz --generate $(@F) >$@

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

install: all $(GENERATED)
	install -d $(BIN) $(SHARE)/redviz/kernels $(addprefix $(SHARE)/redviz/,$(ASSETS)) \
	    $(MAN) $(BASH_COMPLETIONS) $(ZSH_COMPLETIONS) $(FISH_COMPLETIONS)
	install -m 755 $(O)/redviz $(BIN)/redviz
	@if [ -f $(O)/libredviz_peers.so ]; then install -d $(LIB) && \
	    install -m 755 $(O)/libredviz_peers.so $(LIB)/libredviz_peers.so; fi
	install -m 644 kernels/* $(SHARE)/redviz/kernels
	$(foreach folder,$(ASSETS),$(call INSTALL_ASSETS,$(folder)))
	install -m 644 $(O)/generated/man $(MAN)/redviz.1
	install -m 644 $(O)/generated/bash $(BASH_COMPLETIONS)/redviz
	install -m 644 $(O)/generated/zsh $(ZSH_COMPLETIONS)/_redviz
	install -m 644 $(O)/generated/fish $(FISH_COMPLETIONS)/redviz.fish

uninstall:
	rm -rf $(BIN)/redviz $(SHARE)/redviz $(LIB)/libredviz_peers.so $(MAN)/redviz.1 $(BASH_COMPLETIONS)/redviz \
	    $(ZSH_COMPLETIONS)/_redviz $(FISH_COMPLETIONS)/redviz.fish

dist:
	@mkdir -p build
	git archive --prefix=redviz-$(VERSION)/ -o build/redviz-$(VERSION).tar.gz HEAD

deb:
	@scripts/deps.sh build deb
	@rm -rf build/deb && $(SUBMAKE) install O=build/deb PREFIX=/usr DESTDIR=build/deb/root \
	    ZSH_COMPLETIONS=build/deb/root/usr/share/zsh/vendor-completions >/dev/null
	@scripts/make_deb.sh build/deb/root $(VERSION)

clean:
	rm -rf build

$(O)/redviz: $(O)/obj/src/main.o $(LIBRARY)
	$(SAY) "  link     $@"
	$(Q)$(CC) $(CFLAGS) $(FLAGS) $(HARD_LINK) $(LDFLAGS) -o $@ $^ $(LIBRARIES)

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
$(STUBS): Makefile
	$(SAY) "  link     $@"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) -std=c11 -Isrc -fPIC -shared -Wall $(STUB_FLAGS) -o $@ $(filter %.c,$^)

# A stub driver that runs kernels on the emulator, to test capture and --backend gpu without a GPU.
$(EMULATED_GPU): $(EMULATED_OBJECTS)
	$(SAY) "  link     $@"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) -shared -Wl,-Bsymbolic -o $@ $^ -lsqlite3 -lm -pthread

$(O)/pic/%.o: %.c Makefile
	$(SAY) "  compile  $<"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(filter-out -fsanitize% -fno-sanitize%,$(FLAGS)) -fPIC -Wno-unused-parameter -DSTUB_EMULATES -c -o $@ $<

$(O)/tests/device/on_gpu: $(O)/obj/tests/device/on_gpu.o $(O)/helpers.a $(LIBRARY)
	$(SAY) "  link     $@"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(FLAGS) $(HARD_LINK) $(LDFLAGS) -o $@ $^ $(LIBRARIES)

$(BENCHES): $(O)/tests/%: $(O)/obj/tests/%.o $(O)/helpers.a $(LIBRARY)
	$(SAY) "  link     $@"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(FLAGS) $(HARD_LINK) $(LDFLAGS) -o $@ $^ $(LIBRARIES)

# -O3 vectorizes the loops over lanes.
$(O)/obj/src/emulator/%.o: CFLAGS += -O3 -fno-trapping-math
$(O)/obj/src/bench/cpu_reduce.o $(O)/obj/src/plan/loops.o: CFLAGS += -O3 -fno-trapping-math
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
.PHONY: all static help run test test-long tests map goldens test-sanitize test-valgrind test-html bench device ptx ptx-check peers lint format format-check \
    musl-check musl-objects fuzz mutate version deps install uninstall dist deb clean
# Tests need cmocka and libvterm to compile.
$(TESTS:$(O)/tests/%=$(O)/obj/tests/%.o) $(HELPER_OBJECTS): | $(TEST_NEEDS)
-include $(LIBRARY_OBJECTS:.o=.d) $(EMULATED_OBJECTS:.o=.d) $(HELPER_OBJECTS:.o=.d) $(O)/obj/src/main.d $(patsubst $(O)/tests/%,$(O)/obj/tests/%.d,$(TESTS) $(BENCHES))
