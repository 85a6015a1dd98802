# What tests, measures and attacks the tree. The goals that users type are in `make help`.

# --- tests: one program for each folder of tests -----------------------------------------

TESTS := unit sim run

# Sources of separate programs, and sources that only the simulator's programs have.
SOAK_SHM  := $(wildcard tests/sim/soak*.c)
SIM_APART := $(SOAK_SHM) tests/sim/preempt.c tests/sim/test_preempt.c tests/sim/test_stores.c

# Sources that look at network memory themselves, while runs are explored: they are compiled like the
# channels.
LOOKING := $(patsubst %,tests/sim/%.c,workload_small test_choices test_reduce)

# The workloads, and the library that runs and judges them. Other programs may use that library,
# too.
LOCO_SIM      := $(wildcard channels/loco-sim/*.c)
SIM_WORKLOADS := $(LOCO_SIM) $(filter-out $(SIM_APART) tests/sim/litmus.c tests/sim/test_%, \
                   $(wildcard tests/sim/*.c))

$(BUILD)/libloco-sim.a: $(call objects,$(LOCO_SIM))

# FMUs for the tests, like those of other tools, each for FMI 2.0 and for 3.0: fmu/buck2.fmu,
# fmu/buck3.fmu.
FMUS      := buck vanderpol ball controller probe
TEST_FMUS := $(FMUS:%=$(BUILD)/fmu/%2.fmu) $(FMUS:%=$(BUILD)/fmu/%3.fmu)

# This machine's names in the FMI standard.
CPU        = $(firstword $(subst -, ,$(MACHINE)))
PLATFORM2  = $(if $(filter x86_64,$(CPU)),linux64,$(CPU)-linux)
PLATFORM3  = $(CPU)-linux

$(BUILD)/fmu/%2.so: $(BUILD)/obj/tests/fmu/%.o $(call objects,tests/fmu/fmi2.c tests/fmu/fmu.c) \
                    $(BUILD)/libmodels.a
	@mkdir -p $(@D)
	$(LINK) -shared -Wl,-z,defs -o $@ $^ -lm

$(BUILD)/fmu/%3.so: $(BUILD)/obj/tests/fmu/%.o $(call objects,tests/fmu/fmi3.c tests/fmu/fmu.c) \
                    $(BUILD)/libmodels.a
	@mkdir -p $(@D)
	$(LINK) -shared -Wl,-z,defs -o $@ $^ -lm

# $(call pack,VERSION): packs the FMU's library, its description and the rest of its folder
define pack
@rm -rf $@ $(@:.fmu=) && mkdir -p $(@:.fmu=)/binaries/$(PLATFORM$(1))
@cp -r tests/fmu/$*/. $(@:.fmu=)
@cd $(@:.fmu=) && mv modelDescription$(1).xml modelDescription.xml && rm modelDescription[23].xml
@cp $(@:.fmu=.so) $(@:.fmu=)/binaries/$(PLATFORM$(1))/$*.so
cd $(@:.fmu=) && zip -qrX ../$(@F) .
endef

.SECONDARY: $(TEST_FMUS:.fmu=.so) $(call objects,$(FMUS:%=tests/fmu/%.c) $(patsubst %,tests/fmu/%.c,fmu fmi2 fmi3))

.SECONDEXPANSION:
$(BUILD)/fmu/%2.fmu: $(BUILD)/fmu/%2.so $$(wildcard tests/fmu/$$*/* tests/fmu/$$*/*/*)
	$(call pack,2)

$(BUILD)/fmu/%3.fmu: $(BUILD)/fmu/%3.so $$(wildcard tests/fmu/$$*/* tests/fmu/$$*/*/*)
	$(call pack,3)

# Makes malformed FMUs from them.
$(BUILD)/fmu/make_bad: $(call objects,tests/fmu/make_bad.c)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ $$(pkg-config --libs libzip)

# The tests of tests/unit that run on every fabric.
CHANNEL_TESTS := channels fences litmus locks queues kvstore restarts stopped promises members watch

# Criterion starts its program anew for each test, and looks into each of the program's libraries
# then. Twenty are only HDF5's, where it is not linked statically, as Debian's can be.
TEST_LIBS = -Wl,--as-needed $(if $(wildcard /usr/lib/*/libhdf5_serial.a),$(patsubst \
                -lhdf5,-l:libhdf5_serial.a -lsz,$(LIBS)),$(LIBS)) $$(pkg-config --libs criterion)

# Thirteen of the rest are only libgit2's, in whose place there is a library with its name.
NO_GIT := $(BUILD)/no-git/library.so

$(NO_GIT): $(call objects,tests/no_git.c)
	@mkdir -p $(@D)
	name=$$(readelf -d $$($(CC) -print-file-name=libcriterion.so) | sed -n 's/.*(NEEDED).*\[\(libgit2.*\)\]/\1/p') && \
	    $(LINK) -shared -Wl,-soname,$${name:=none.so} -o $@ $< && ln -sf $(@F) $(@D)/$$name

$(TESTS:%=$(BUILD)/test-%): private LINK += -Wl,--no-as-needed $(NO_GIT) -Wl,-rpath,'$$ORIGIN/no-git'
$(TESTS:%=$(BUILD)/test-%): | $(NO_GIT)

$(filter-out %-sim,$(TESTS:%=$(BUILD)/test-%)): $(call objects,tests/nodes.c tests/limits.c \
                                                tests/verdicts.c tests/own_network.c) $(ARCHIVES)
	$(LINK) -o $@ $(filter %.o,$^) $(ARCHIVES) $(TEST_LIBS)

# Tests are compiled faster than optimized ones would run, but for those that race with each other.
RACING := $(CHANNEL_TESTS:%=tests/unit/test_%.c)
$(call objects,$(filter-out $(RACING),$(wildcard tests/unit/*.c tests/run/*.c))): CFLAGS := $(patsubst -O%,-O0,$(CFLAGS))

# tests/unit/test_no_memory.c wraps these functions to make allocations fail.
ALLOCATIONS := malloc calloc realloc aligned_alloc tsearch asprintf
$(BUILD)/test-unit: private LINK += $(ALLOCATIONS:%=-Wl,--wrap=%)

# The simulator interrupts the channels at any access to memory (tests/sim/preempt.c). That does not
# work with other sanitizers; with those it interrupts only at the fabric's operations.
PREEMPTED := $(if $(findstring -fsanitize,$(CFLAGS)),,-fsanitize=thread -Wno-tsan \
               --param tsan-instrument-func-entry-exit=0)
WRAPPED   := pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock memcpy memset \
             __memcpy_chk __memset_chk loco_sim_history_return
SIM_LINK   = $(LINK) $(if $(PREEMPTED),$(WRAPPED:%=-Wl,--wrap=%))

$(BUILD)/sim/%.o: %.c $(BUILD)/flags | $(NEEDED)
	@mkdir -p $(@D)
	$(COMPILE) $(PREEMPTED) -MMD -MP -c -o $@ $<

$(BUILD)/sim/libloco.a: $(patsubst %.c,$(BUILD)/sim/%.o,$(CHANNELS)) \
                        $(call objects,$(FABRICS)) \
                        $(if $(PREEMPTED),$(call objects,tests/sim/preempt.c))

$(BUILD)/test-unit: $(call objects,$(wildcard tests/unit/*.c)) \
                    | $(FMU_SHARED) $(TEST_FMUS) $(BUILD)/fmu/make_bad
$(BUILD)/test-sim:  $(call objects,$(LOCO_SIM) $(filter-out $(SIM_APART) $(LOOKING),$(wildcard tests/sim/*.c))) \
                    $(patsubst %.c,$(BUILD)/sim/%.o,$(LOOKING) tests/sim/test_preempt.c tests/sim/test_stores.c)
$(BUILD)/test-run:  $(call objects,$(wildcard tests/run/*.c)) \
                    | $(BUILD)/node-bench $(BUILD)/bench-sample $(TEST_FMUS) $(BUILD)/fmu/make_bad

$(BUILD)/test-sim: $(call objects,tests/nodes.c tests/limits.c tests/verdicts.c \
                   channels/conform/litmus.c channels/conform/stage.c) $(BUILD)/sim/libloco.a
	$(SIM_LINK) -o $@ $(filter %.o,$^) $(BUILD)/sim/libloco.a $(TEST_LIBS)

# The channels' tests without Criterion, which does not work well with ThreadSanitizer or on slow
# machines.
plain = $(patsubst %.c,$(BUILD)/plain/%.o,$(1))

$(BUILD)/plain/%.o: %.c $(BUILD)/flags | $(NEEDED)
	@mkdir -p $(@D)
	$(COMPILE) -Itests/plain -MMD -MP -c -o $@ $<

PLAIN := $(call plain,$(wildcard tests/plain/*.c) $(CHANNEL_TESTS:%=tests/unit/test_%.c)) \
         $(call objects,tests/nodes.c) $(BUILD)/libloco.a

# Also the tests of other parts that have threads of their own.
$(BUILD)/test-plain: $(PLAIN) $(call plain,$(patsubst %,tests/unit/test_%.c,rows crew history)) $(ARCHIVES)
	$(LINK) -o $@ $(filter %.o,$^) $(ARCHIVES) $(LIBS)

# The tests on an RDMA device. Without a device they run on shm, or are skipped and say so.
$(BUILD)/test-rdma: $(call plain,$(wildcard tests/rdma/*.c)) $(call objects,$(SIM_WORKLOADS)) \
                    $(PLAIN)
	$(LINK) -o $@ $^ $(LOCO_LIBS) -lm

# The tests on tcp: the channels, the histories of tests/rdma, and tcp's own tests.
$(BUILD)/test-tcp: $(call plain,$(wildcard tests/tcp/test_*.c) tests/rdma/test_histories.c) \
                   $(call objects,$(SIM_WORKLOADS)) $(PLAIN)
	$(LINK) -o $@ $^ $(LOCO_LIBS) -lm

TCP_TESTS := limits channels scenario network
ON_TCP    := $(BUILD)/test-tcp $(BUILD)/tcp-relay

# The commands that compile and link a mutant.
MUTANTS_ARE_MADE_BY = "$(COMPILE) -w -g0" "$(LINK) -s" "$(COMPILE) $(PREEMPTED) -w -g0" "$(SIM_LINK) -s" $(LOCO_LIBS) -lm

TESTED := all $(TESTS:%=$(BUILD)/test-%) $(BUILD)/libloco-sim.a $(BUILD)/soak $(BUILD)/soak-shm \
          $(ON_TCP) $(INSTALLED)

# The stages of `make test`. Tests of real time need the processors; the others have what these leave,
# the longest first. The suites of tests/run are two stages: those by the clock are alone
# (tests/run/workspace.h). Those of tests/unit are two, as well: some only compute.
ALONE  := tcp clock unit run
BESIDE := sim computed gates install mutants soak site

COMPUTED := plot|plot_general|circuit_drawn|export_fmu|scenario_hostile|converter_parts|enable|trace_hostile

test: $(TESTED)
	@tests/run_all $(BUILD) --alone $(ALONE) --beside $(BESIDE)

# All stages that .ci/run has: the further ones need further packages, and rdma both processors, as
# soft-RoCE runs in an emulated machine. The fuzzers come first, as compiling them takes minutes.
test-all: $(TESTED) $(BUILD)/test-rdma $(BUILD)/test-card \
          | $(patsubst %,$(BUILD)/packages-installed-for-%,fuzz device launchers) $(NEEDED_FOR_RDMA)
	@tests/run_all $(BUILD) --alone $(ALONE) rdma device launchers --beside fuzz $(BESIDE)

test-unit:     SUITES := !($(COMPUTED))
test-computed: SUITES := @($(COMPUTED))
test-unit test-computed: all $(BUILD)/test-unit
	@HILOCO_BUILD=$(BUILD) $(BUILD)/test-unit --filter '$(SUITES)/*'

test-run:   SUITES := others
test-clock: SUITES := alone
test-run test-clock: all $(BUILD)/test-run
	@HILOCO_BUILD=$(BUILD) HILOCO_SUITES=$(SUITES) $(BUILD)/test-run

# Every workload of shm under chaos.
test-soak: $(BUILD)/soak-shm
	@$(BUILD)/soak-shm --seeds 20

# The simulator, and every workload on it under chaos (more: make soak).
test-sim: $(BUILD)/test-sim $(BUILD)/soak
	@$(BUILD)/test-sim
	@$(BUILD)/soak --seeds 300
	@$(BUILD)/soak --only 'small_*' --depth-first 1,1
	@$(BUILD)/soak --only 'small_*' --pct 2 --seeds 1000
	@grep -v '^#' tests/sim/seeds | while read -r workload seed answers; do \
	    $(BUILD)/soak --only $$workload --from $$seed --seeds 1 \
	        $${answers:+--quiet --replay "$$answers"} || exit; done

test-mutants: $(BUILD)/soak $(BUILD)/soak-shm
	@tests/sim/test_mutants.sh $(BUILD) $(MUTANTS_ARE_MADE_BY)
	@tests/sim/mutants.sh $(BUILD) $(MUTANTS_ARE_MADE_BY)

# libloco and libhiloco as they are installed.
test-install: all $(INSTALLED)
	@tests/install/test_install.sh $(BUILD)

# The documents as a site.
test-site: all $(PAGES)
	@tests/site/test_site.sh $(BUILD)

# Suites many times beside a load, to find tests that depend on the machine.
N ?= 20
test-repeat: $(TESTED)
	@tests/repeat $(BUILD) --times $(N) $(if $(FILTER),--filter '$(FILTER)')

# Checks the tree itself: spelling, scripts, suspicious C, and the tree's own rules.
gates test-gates: | $(BUILD)/packages-installed
	@HILOCO_BUILD=$(BUILD) tests/gates/run

# --- coverage: how much of channels/ and harness/run the tests execute ---------------------------

# The stages of COVERED. A test that fails does not end it.
COVERED ?= unit computed sim soak tcp run clock

coverage: | $(BUILD)/packages-installed-for-coverage
	$(MAKE) BUILD=$(BUILD)/coverage CFLAGS="-O0 -g --coverage -fprofile-update=atomic" \
	    WARNINGS=-Wall coverage-run

coverage-run: $(TESTED)
	@find $(BUILD) -name '*.gcda' -delete
	-@GCOV_ERROR_FILE=$(BUILD)/gcov.log $(MAKE) --no-print-directory -j1 -k $(COVERED:%=test-%)
	@tests/coverage.py $(BUILD)

# --- job launchers, really run ------------------------------------------------------------------

LAUNCHER_TESTS := mpirun slurm ssh clocks

test-launchers: all | $(BUILD)/packages-installed-for-launchers
	@HILOCO_BUILD=$(BUILD) tests/launchers/run $(LAUNCHER_TESTS)

# --- tests of the fabric tcp: on loopback and in network namespaces -------------------------------

$(BUILD)/tcp-relay: $(call objects,tests/tcp/relay.c)
	$(LINK) -o $@ $^

test-tcp: all $(ON_TCP)
	@HILOCO_BUILD=$(BUILD) tests/tcp/run $(TCP_TESTS)

# --- tests on an RDMA device: this machine's RDMA_DEVICE, or that of a guest with soft-RoCE -------

RDMA_TESTS := rping conform channels scenario rendezvous faults

ON_RDMA = HILOCO_BUILD=$(BUILD) $(if $(RDMA_DEVICE),,tests/guest/run --cache $(BUILD)/guest \
              --with rdma --write $(BUILD)/rdma) tests/rdma/run $(or $(RDMA_DEVICE),rxe0)

test-rdma: all $(BUILD)/test-rdma | $(NEEDED_FOR_RDMA)
	$(ON_RDMA) $(RDMA_TESTS)

# --- tests on devices: in a guest whose kernel has them -------------------------------------------

# The kernel's package. linux-image-rt-amd64 is PREEMPT_RT. Each kernel has a cache of its own.
GUEST_KERNEL ?= linux-image-amd64

$(BUILD)/test-card: $(call objects,tests/device/card.c)
	$(LINK) -o $@ $^ $$(pkg-config --libs comedilib)

test-device: all $(BUILD)/test-card $(BUILD)/node-bench | $(BUILD)/packages-installed-for-device
	HILOCO_BUILD=$(BUILD) tests/guest/run --with device --kernel $(GUEST_KERNEL) \
	    --cache $(BUILD)/guest$(GUEST_KERNEL:linux-image%-amd64=%) tests/device/run

# --- tests on aarch64: built by Debian's cross compiler, run by QEMU --------------------------------

AARCH64       := $(BUILD)/aarch64
AARCH64_ROOT  := $(AARCH64)/root
AARCH64_TESTS := order virtual channels sim

# The libraries for aarch64. They are unpacked, not installed on this machine.
$(AARCH64)/root-made: tests/aarch64/root.sh | $(BUILD)/packages-installed-for-aarch64
	tests/aarch64/root.sh $(AARCH64_ROOT) libc6-dev $(filter lib% zlib1g-dev nettle-dev,$(BUILD_PACKAGES) $(TEST_PACKAGES))
	@touch $@

CROSS = PKG_CONFIG_SYSROOT_DIR=$(abspath $(AARCH64_ROOT)) \
        PKG_CONFIG_LIBDIR=$(abspath $(AARCH64_ROOT))/usr/lib/aarch64-linux-gnu/pkgconfig \
        $(MAKE) BUILD=$(AARCH64) AR=aarch64-linux-gnu-ar \
        CC="$(filter ccache,$(CC)) aarch64-linux-gnu-gcc --sysroot=$(abspath $(AARCH64_ROOT))"

test-aarch64: all $(AARCH64)/root-made
	$(CROSS) all $(patsubst %,$(AARCH64)/%,test-plain test-run test-sim test-unit soak)
	@HILOCO_BUILD=$(AARCH64) HILOCO_HOST_BUILD=$(BUILD) tests/aarch64/run $(AARCH64_ROOT) $(AARCH64_TESTS)

# --- soak: the channels under chaos, for long ----------------------------------------------

SEEDS ?= 10000

# All of soak but the channels: each mutant is linked with it.
$(BUILD)/sim/soak.a: $(call objects,tests/sim/soak.c $(filter-out $(LOOKING),$(SIM_WORKLOADS))) \
                     $(patsubst %.c,$(BUILD)/sim/%.o,$(filter $(LOOKING),$(SIM_WORKLOADS)))

$(BUILD)/soak: $(BUILD)/sim/soak.a $(BUILD)/sim/libloco.a
	$(SIM_LINK) -o $@ $^ $(LOCO_LIBS) -lm

# The same on shm and tcp, with real threads.
$(BUILD)/soak-shm: $(call objects,$(SOAK_SHM) tests/nodes.c) $(BUILD)/libloco-sim.a $(BUILD)/libloco.a
	$(LINK) -o $@ $^ $(LOCO_LIBS) -lm

ROUNDS ?= 2000000

soak: $(BUILD)/soak $(BUILD)/soak-shm $(BUILD)/test-unit
	$(BUILD)/soak --seeds $(SEEDS)
	$(BUILD)/soak --only 'small_*' --depth-first 2,1
	$(BUILD)/soak --only 'small_*' --depth-first 0,2
	$(BUILD)/soak-shm --seeds $$((($(SEEDS) + 99) / 100))
	LITMUS_ROUNDS=$(ROUNDS) $(BUILD)/test-unit --jobs 1 --filter 'litmus/*'
	CIRCUIT_ROUNDS=$$((($(SEEDS) + 99) / 100)) $(BUILD)/test-unit --filter 'circuit_drawn/*'

# --- benchmarks ----------------------------------------------------------------------------

# Sources of separate programs: an example and a table.
APART := tests/bench/barrier_latency.c tests/bench/lateness.c

# What the programs of benchmarks share. Each adds its tables.
BENCH_CORE := $(patsubst %,tests/bench/%.c,beside bench clock ending hiloco json machine options passes \
                quantiles result rows text)
BENCH_ROWS := $(filter-out $(BENCH_CORE) $(APART) tests/bench/sample_rows.c tests/bench/rdma%,$(wildcard tests/bench/*.c))

$(BUILD)/bench: $(call objects,$(BENCH_CORE) $(BENCH_ROWS)) $(ARCHIVES)
	$(LINK) -o $@ $^ $(LIBS)

$(BUILD)/bench-rdma: $(call objects,$(BENCH_CORE) $(patsubst %,tests/bench/%.c,rdma rdma_tables locks pair \
                       rivals)) $(ARCHIVES)
	$(LINK) -o $@ $^ $(LIBS)

# With rows of which the tests know what they give.
$(BUILD)/bench-sample: $(call objects,$(BENCH_CORE) tests/bench/sample_rows.c) $(ARCHIVES)
	$(LINK) -o $@ $^ $(LIBS)

$(BUILD)/lateness: $(call objects,$(patsubst %,tests/bench/%.c,lateness machine)) $(ARCHIVES)
	$(LINK) -o $@ $^ $(LIBS)

$(BUILD)/barrier_latency: $(call objects,tests/bench/barrier_latency.c) $(BUILD)/libloco.a
	$(LINK) -o $@ $^ $(LIBS)

# Programs that libloco is compared with. Without mpicc, or another of them, its comparisons are
# left out.
RIVALS := mpi_locks mpi_collectives

rivals: | $(NEEDED)
	@tests/bench/rivals/install.sh
	@mkdir -p $(BUILD)/rivals
	@! command -v mpicc >/dev/null || for r in $(RIVALS); do \
	    mpicc -std=c17 -D_GNU_SOURCE -I. -O2 -o $(BUILD)/rivals/$$r \
	        tests/bench/rivals/$$r.c harness/run/clock.c -lm || exit 1; done

$(call objects,tests/bench/queues.c): | rivals # it includes one

MEASURE_LATENESS = $(BUILD)/lateness --out $(BUILD)/lateness.json $(LATENESS)

bench: rivals all $(BUILD)/bench $(BUILD)/barrier_latency $(BUILD)/lateness
	$(BUILD)/bench --out $(BUILD)/bench.json $(BENCH)
	@! command -v jq >/dev/null || gnuplot -e "from='$(BUILD)/bench.json'; to='$(BUILD)/bench.png'" \
	    traces/bench.gp
	$(if $(BENCH),,$(MEASURE_LATENESS))

# Two files of results: make bench-compare A.json B.json
ifneq ($(filter bench-compare,$(MAKECMDGOALS)),)
COMPARED := $(filter-out bench-compare,$(MAKECMDGOALS))

$(COMPARED): ; @:
.PHONY: bench-compare $(COMPARED)
endif

bench-compare:
	@tests/bench/compare.py $(COMPARED)

lateness: $(BUILD)/lateness
	$(MEASURE_LATENESS)

bench-rdma: $(BUILD)/bench-rdma | $(NEEDED_FOR_RDMA)
	BENCH='$(BENCH)' $(ON_RDMA) bench

# --- sanitizers ------------------------------------------------------------------------------
#
# Criterion's own memory does not get along with ThreadSanitizer, so under it the channels'
# tests run on a stand-in for Criterion: tests/plain. The simulator runs all its fibers on one
# thread, and has nothing for ThreadSanitizer to see.
#
# Some tests of tests/run are built without a sanitizer but start sanitized programs: programs that
# load foreign models, and programs with shards. The tests read the programs' output, so the
# sanitizers report to files. handle_segv=0, as some tests crash a program on purpose.
# detect_leaks=0, as a model that calls exit() leaves all memory of the run allocated.
#
# With sanitizers gcc gives false warnings, so warnings are not errors here.

OF_OTHERS         := @(fmu_runs|export_fmu|apart_models|program|netlist|native|join)/!(its_memory_does_not_grow)
IN_TIME           := @(join/*|shards_by_the_clock/*|@(fmu_runs|apart_models|program|native)/*in_real_time)

# $(call run-sanitized,FOLDER,TESTS)
define run-sanitized
	@rm -f $(BUILD)/$(1)/found.*
	$(foreach s,ASAN UBSAN TSAN,$(s)_OPTIONS=handle_segv=0:detect_leaks=0:log_path=$(abspath $(BUILD)/$(1)/found)) \
	    HILOCO_BUILD=$(BUILD)/$(1) $(BUILD)/test-run --filter '$(2)'
	@! cat $(BUILD)/$(1)/found.* 2>/dev/null
endef

sanitize: $(BUILD)/packages-installed $(BUILD)/test-run
	$(MAKE) BUILD=$(BUILD)/asan CFLAGS="-O1 -g -fsanitize=address,undefined \
	    -fno-sanitize-recover=all" WARNINGS=-Wall sanitize-run
	$(call run-sanitized,asan,$(OF_OTHERS))
	$(MAKE) BUILD=$(BUILD)/tsan CFLAGS="-O1 -g -fsanitize=thread -Wno-tsan" \
	    WARNINGS=-Wall sanitize-threads
	$(call run-sanitized,tsan,$(IN_TIME))

sanitize-threads: all $(BUILD)/test-plain $(BUILD)/test-tcp $(BUILD)/node-bench $(TEST_FMUS)
	$(BUILD)/test-plain '*' '!*_sim' '!*chaos*'
	$(BUILD)/test-tcp 'tcp/*'
	LOCO_TEST_FABRIC=tcp LOCO_TEST_EMULATED=1 $(BUILD)/test-tcp 'channels/*_one_process' \
	    'channels/*_threads'

sanitize-run: export LSAN_OPTIONS := suppressions=tests/leaks.supp:print_suppressions=0
sanitize-run: all $(BUILD)/test-unit $(BUILD)/test-sim $(BUILD)/test-tcp $(BUILD)/node-bench
	$(BUILD)/test-unit
	$(BUILD)/test-sim
	$(BUILD)/test-tcp 'tcp/*'

# --- fuzzers: one for each reader of input that others may have written ----------------------------

FUZZERS := scenario set ssv request results trace journal control fmu tcp view rendezvous
SECONDS ?= 60

# make -j runs several at once.
fuzz test-fuzz: $(FUZZERS:%=fuzz-%)

$(FUZZERS:%=fuzz-%): fuzz-%: fuzzers
	@tests/fuzz/run.sh $(BUILD)/fuzz $(SECONDS) $*

fuzzers: $(BUILD)/packages-installed-for-fuzz
	$(MAKE) BUILD=$(BUILD)/fuzz CC=clang CFLAGS="-O1 -gline-tables-only -fsanitize=address,undefined,fuzzer-no-link \
	    -fno-sanitize-recover=all" $(FUZZERS:%=$(BUILD)/fuzz/fuzz-%)

# Without the folders in which no reader is.
FUZZED := $(filter-out $(patsubst %,harness/%/%,commands summary tracing \
            $(addprefix tools/,export_fmu merge report tracing)),$(HARNESS))

$(BUILD)/libfuzzed.a: $(call objects,$(FUZZED))

$(FUZZERS:%=$(BUILD)/fuzz-%): $(BUILD)/fuzz-%: $(BUILD)/obj/tests/fuzz/fuzz_%.o \
                              $(call objects,tests/fuzz/fuzz.c tests/nodes.c) \
                              $(BUILD)/libfuzzed.a $(BUILD)/libmodels.a $(BUILD)/libloco.a
	$(LINK) -fsanitize=fuzzer -o $@ $^ $(LIBS)
