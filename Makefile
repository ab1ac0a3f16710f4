# redviz. `make run` and `make test` install what they miss and do the rest; `make help` lists the targets.
#
# Variables: V=1 shows commands, DEV=1 makes warnings errors, SANITIZE=1 builds with ASan and UBSan (into
# build/sanitize), JOBS compilations and tests run at a time, PREFIX is where `make install` puts the program, CC and
# CFLAGS are yours to set.

CFLAGS ?= -O2 -g
PREFIX ?= /usr/local

export JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PARALLEL = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS))
SUBMAKE = $(MAKE) --no-print-directory $(PARALLEL)

O = build
FLAGS = -std=c11 -Wall -Wextra -Wpedantic -ffp-contract=off -pthread -I. -Isrc -MMD -MP
LIBRARIES = $(CURSES_LIBRARIES) -lsqlite3 -lm -pthread -ldl
CURSES_LIBRARIES ?= $(if $(filter Darwin,$(shell uname -s)),-lncurses,-lncursesw)
ifdef DEV
FLAGS += -Werror
endif
ifdef SANITIZE
O = build/sanitize
FLAGS += -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
ifndef V
Q = @
SAY = @echo
else
SAY = @:
endif

# Everything but main.c is one archive, which the program and every test program are linked with. A file in
# tests/ that is neither a test (test_*.c), nor fuzzing, nor a benchmark, is there to help tests.
SOURCES = $(wildcard src/main.c src/*/*.c src/*/*/*.c tui/*.c tui/*/*.c)
LIBRARY = $(O)/libredviz.a
LIBRARY_OBJECTS = $(patsubst %.c,$(O)/obj/%.o,$(filter-out src/main.c,$(SOURCES)))
TEST_SOURCES = $(wildcard tests/*/test_*.c)
TESTS = $(patsubst %.c,$(O)/%,$(TEST_SOURCES))
HELPER_SOURCES = $(filter-out $(TEST_SOURCES) tests/fuzz/% tests/bench/bench_% tests/device/%,$(wildcard tests/*/*.c))
HELPER_OBJECTS = $(patsubst %.c,$(O)/obj/%.o,$(HELPER_SOURCES))
STUBS = $(patsubst %,$(O)/tests/gpu/lib%_stub.so,cuda cuda_old cupti nvml peers)
EMULATED_GPU = $(O)/tests/gpu/libcuda_emulated.so
EMULATED_OBJECTS = $(patsubst %.c,$(O)/pic/%.o,$(filter src/base/% src/ptx/% src/trace/% src/emulator/%,$(SOURCES)) \
    tests/gpu/stub/cuda_stub.c tests/gpu/stub/emulated.c)
BENCHES = $(patsubst %.c,$(O)/%,$(wildcard tests/bench/bench_*.c))
FORMATTED = $(filter-out src/gpu/peers.cu,$(shell git ls-files "*.[ch]" "*.cu"))

all: $(O)/redviz

help:
	@sed -n 's/^#: //p' Makefile

#: make [all]          build build/redviz
#: make run            install what is missing, build, open the first kernel (a frame and the report without a terminal)
#: make test           install what is missing, build, run every test
#: make test-sanitize  the same under AddressSanitizer and UndefinedBehaviorSanitizer
#: make test-valgrind  the same under valgrind
#: make goldens        rewrite the screens that tests compare with, for review with git diff
#: make bench          figures of this machine
#: make device         tests/device/on_gpu, for machines with a GPU
#: make ptx            regenerate assets/ptx from kernels/ (needs nvcc; of kernels/*.py PYTHON=a python3 that has Triton)
#: make ptx-check      is it stale?
#: make peers          build build/libredviz_peers.so: CUB and thrust beside the ladder in --bench (needs nvcc)
#: make lint           clang-tidy and cppcheck; make format: clang-format
#: make fuzz           fuzz PTX, --args and session files, each for FUZZ_SECONDS (60); fuzz-ptx, fuzz-args, fuzz-session: one
#: make deps           install what building and testing need
#: make install        into PREFIX (/usr/local); make uninstall
#: make clean          remove build/

run:
	@scripts/deps.sh build
	@$(SUBMAKE) all
	@if [ -t 0 ] && [ -t 1 ]; then $(O)/redviz --kernel interleaved; else \
	    $(O)/redviz --kernel interleaved --frame && $(O)/redviz --kernel interleaved --report; fi

test:
	@scripts/deps.sh build test
	@$(SUBMAKE) -k all tests || export REDVIZ_BROKEN=1; tests/run_tests.sh $(O) $(TEST_SOURCES)

tests: $(TESTS) $(STUBS) $(EMULATED_GPU)

goldens: all $(patsubst %,$(O)/tests/tui/test_%,frames screens hazards tree timings cast svg)
	@for test in $(filter $(O)/tests/tui/%,$^); do REDVIZ_REWRITE=1 REDVIZ_BIN=$(O)/redviz $$test || exit 1; done

test-sanitize:
	@$(MAKE) --no-print-directory test SANITIZE=1 REDVIZ_TEST_LIMIT=65536

test-valgrind:
	@scripts/deps.sh build test valgrind
	@$(SUBMAKE) -k all tests
	@REDVIZ_TEST_LIMIT=4096 REDVIZ_TEST_SECONDS=7200 REDVIZ_UNDER="valgrind -q --error-exitcode=99 --leak-check=full" \
	    tests/run_tests.sh $(O) $(TEST_SOURCES)

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

lint:
	@scripts/deps.sh build test lint
	@scripts/lint.sh $(SOURCES) $(TEST_SOURCES) $(HELPER_SOURCES) $(wildcard tests/bench/*.c tests/fuzz/*.c)

format:
	clang-format -i $(FORMATTED)

FUZZ_SECONDS ?= 60
FUZZ = $(Q)mkdir -p build/fuzz/$@ && clang -std=c11 -g -O1 -fsanitize=fuzzer,address,undefined -w \
    -fno-sanitize-recover=all -I. -Isrc -o build/fuzz/fuzz_$(@:fuzz-%=%) tests/fuzz/fuzz_$(@:fuzz-%=%).c
FUZZ_RUN = -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=build/fuzz/ build/fuzz/$@
fuzz: fuzz-ptx fuzz-args fuzz-session

fuzz-deps:
	@scripts/deps.sh build fuzz

fuzz-ptx: fuzz-deps
	$(FUZZ) $(filter src/ptx/% src/base/%,$(SOURCES)) -lm
	build/fuzz/fuzz_ptx -max_len=8192 -timeout=10 -dict=tests/fuzz/ptx.dict $(FUZZ_RUN) tests/fuzz/corpus assets/ptx

fuzz-args: fuzz-deps
	$(FUZZ) $(filter src/ptx/% src/base/% src/catalog/%,$(SOURCES)) -lm
	@printf "0in=float[n]:random, out=float[grid*4], k=n/2, 1e-3" >build/fuzz/$@/seed
	build/fuzz/fuzz_args -max_len=512 -timeout=5 $(FUZZ_RUN)

fuzz-session: all
	$(FUZZ) $(filter-out src/main.c,$(SOURCES)) $(LIBRARIES)
	@for kernel in interleaved shuffle atomic bug_missing_sync; do \
	    $(O)/redviz --kernel $$kernel --n 64 --block 64 --save build/fuzz/$@/$$kernel.redviz --report >/dev/null; done; true
	build/fuzz/fuzz_session -max_len=400000 -len_control=0 -timeout=20 -rss_limit_mb=4096 $(FUZZ_RUN)

deps:
	@scripts/deps.sh build test

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/redviz/kernels \
	    $(DESTDIR)$(PREFIX)/share/redviz/assets/ptx $(DESTDIR)$(PREFIX)/share/redviz/assets/include \
	    $(DESTDIR)$(PREFIX)/share/redviz/assets/h200
	install -m 755 $(O)/redviz $(DESTDIR)$(PREFIX)/bin/redviz
	@if [ -f $(O)/libredviz_peers.so ]; then install -d $(DESTDIR)$(PREFIX)/lib && \
	    install -m 755 $(O)/libredviz_peers.so $(DESTDIR)$(PREFIX)/lib/libredviz_peers.so; fi
	install -m 644 kernels/* $(DESTDIR)$(PREFIX)/share/redviz/kernels
	install -m 644 assets/ptx/* $(DESTDIR)$(PREFIX)/share/redviz/assets/ptx
	install -m 644 assets/h200/* $(DESTDIR)$(PREFIX)/share/redviz/assets/h200
	install -m 644 assets/include/* $(DESTDIR)$(PREFIX)/share/redviz/assets/include

uninstall:
	rm -rf $(DESTDIR)$(PREFIX)/bin/redviz $(DESTDIR)$(PREFIX)/share/redviz $(DESTDIR)$(PREFIX)/lib/libredviz_peers.so

clean:
	rm -rf build

$(O)/redviz: $(O)/obj/src/main.o $(LIBRARY)
	$(SAY) "  link     $@"
	$(Q)$(CC) $(CFLAGS) $(FLAGS) $(LDFLAGS) -o $@ $^ $(LIBRARIES)

$(LIBRARY): $(LIBRARY_OBJECTS)
	$(SAY) "  archive  $@"
	$(Q)rm -f $@ && $(AR) qcs $@ $^

$(O)/helpers.a: $(HELPER_OBJECTS)
	$(Q)rm -f $@ && $(AR) qcs $@ $^

$(TESTS): $(O)/tests/%: $(O)/obj/tests/%.o $(O)/helpers.a $(LIBRARY)
	$(SAY) "  link     $@"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(FLAGS) $(LDFLAGS) -o $@ $^ -lcmocka -lvterm $(LIBRARIES)

# NVIDIA's libraries without a GPU, which the tests of src/gpu load; the old driver lacks what CUDA 12 brought.
$(O)/tests/gpu/libcuda_old_stub.so: STUB_FLAGS = -DSTUB_OLD
$(O)/tests/gpu/libcuda_old_stub.so: tests/gpu/stub/cuda_stub.c
$(O)/tests/gpu/libcupti_stub.so: src/gpu/cupti.h src/gpu/cupti.def
$(O)/tests/gpu/libpeers_stub.so: src/gpu/peers.h
$(filter-out %_old_stub.so,$(STUBS)): $(O)/tests/gpu/lib%.so: tests/gpu/stub/%.c
$(STUBS): Makefile
	$(SAY) "  link     $@"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) -std=c11 -Isrc -fPIC -shared -Wall $(STUB_FLAGS) -o $@ $(filter %.c,$^)

# The same with an emulator inside, which runs the kernels: for tests of capture, and to try --backend gpu anywhere.
$(EMULATED_GPU): $(EMULATED_OBJECTS)
	$(SAY) "  link     $@"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) -shared -Wl,-Bsymbolic -o $@ $^ -lsqlite3 -lm -pthread

$(O)/pic/%.o: %.c Makefile
	$(SAY) "  compile  $<"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(filter-out -fsanitize% -fno-sanitize%,$(FLAGS)) -fPIC -Wno-unused-parameter -DSTUB_EMULATES -c -o $@ $<

$(O)/tests/device/on_gpu: $(O)/obj/tests/device/on_gpu.o $(O)/helpers.a $(LIBRARY)
	$(SAY) "  link     $@"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(FLAGS) $(LDFLAGS) -o $@ $^ $(LIBRARIES)

$(BENCHES): $(O)/tests/%: $(O)/obj/tests/%.o $(LIBRARY)
	$(SAY) "  link     $@"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(FLAGS) $(LDFLAGS) -o $@ $^ $(LIBRARIES)

# The emulator's lane loops are what -O3 is for: it vectorizes them.
$(O)/obj/src/emulator/%.o: CFLAGS += -O3 -fno-trapping-math
$(O)/obj/src/bench/cpu_reduce.o: CFLAGS += -O3

$(O)/obj/%.o: %.c Makefile
	$(SAY) "  compile  $<"
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(FLAGS) -c -o $@ $<

.SECONDARY:
.PHONY: device all help run test tests goldens test-sanitize test-valgrind bench ptx ptx-check peers lint format fuzz deps install \
    uninstall clean
-include $(LIBRARY_OBJECTS:.o=.d) $(EMULATED_OBJECTS:.o=.d) $(HELPER_OBJECTS:.o=.d) $(O)/obj/src/main.d $(patsubst $(O)/tests/%,$(O)/obj/tests/%.d,$(TESTS) $(BENCHES))
