# hiloco: one Makefile for the whole tree.  `make help` lists the targets.

VERSION := 0.3.0

PREFIX  ?= /usr/local
DESTDIR ?=
BUILD   ?= build
RESULTS ?= results

# Without -j, make uses all processors.
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

all:

# --- packages --------------------------------------------------------------------------

BUILD_PACKAGES := gcc libc6-dev make pkg-config libcyaml-dev libyaml-dev libhdf5-dev libjansson-dev \
                  libxxhash-dev libsodium-dev libibverbs-dev librdmacm-dev \
                  libncurses-dev liblttng-ust-dev libbabeltrace2-dev libzip-dev libexpat1-dev \
                  libcomedi-dev libngspice0-dev libzstd-dev zlib1g-dev libmicrohttpd-dev nettle-dev \
                  gnuplot-nox
TEST_PACKAGES  := libcriterion-dev lttng-tools babeltrace2 zip chromium-headless-shell python3-h5py python3-pytest \
                  clang-tidy codespell shellcheck
RDMA_PACKAGES  := ibverbs-utils iproute2 perftest rdma-core rdmacm-utils
FUZZ_PACKAGES  := clang libclang-rt-dev
DEVICE_PACKAGES := can-utils linuxptp
LAUNCHER_PACKAGES := openmpi-bin iproute2 tcsh \
                     $(if $(wildcard /usr/sbin/policy-rc.d),munge openssh-server slurm-client slurmctld slurmd)
AARCH64_PACKAGES := gcc-aarch64-linux-gnu mmdebstrap qemu-user zip
CONTAINER_PACKAGES := buildah crun mmdebstrap
COVERAGE_PACKAGES := gcovr
DEB_PACKAGES   := debhelper dh-python dpkg-dev lintian mmdebstrap
GUEST_PACKAGES := busybox-static cpio kmod qemu-system-x86 xz-utils zstd

# These goals install missing packages. Other goals only list them.
ifneq ($(filter run test gates coverage test-rdma test-device test-launchers test-aarch64 test-container \
                deb test-deb test-bare soak bench bench-rdma lateness sanitize fuzz fuzz-%,$(MAKECMDGOALS)),)
NEEDED := $(BUILD)/packages-installed
else
NEEDED := $(BUILD)/packages-found
endif

# Debian starts the services of a package when it is installed, unless policy-rc.d forbids that, as
# in containers. Where nothing forbids it, the tests do not install Slurm and sshd. Tests that need
# these and do not find them are skipped and say so.

# Further packages for the tests of an RDMA device. Without RDMA_DEVICE those tests run in a guest.
NEEDED_FOR_RDMA := $(BUILD)/packages-installed-for-$(if $(RDMA_DEVICE),rdma,guest)

$(BUILD)/packages-%: PACKAGES = $(BUILD_PACKAGES) $(TEST_PACKAGES)
$(BUILD)/packages-found: PACKAGES = $(BUILD_PACKAGES) $(if $(filter-out all install,$(MAKECMDGOALS)),$(TEST_PACKAGES))
$(BUILD)/packages-installed-for-build: PACKAGES = $(BUILD_PACKAGES)
$(BUILD)/packages-installed-for-rdma:  PACKAGES = $(RDMA_PACKAGES)
$(BUILD)/packages-installed-for-guest: PACKAGES = $(RDMA_PACKAGES) $(GUEST_PACKAGES)
$(BUILD)/packages-installed-for-device: PACKAGES = $(DEVICE_PACKAGES) $(GUEST_PACKAGES)
$(BUILD)/packages-installed-for-fuzz:  PACKAGES = $(FUZZ_PACKAGES)
$(BUILD)/packages-installed-for-launchers: PACKAGES = $(LAUNCHER_PACKAGES)
$(BUILD)/packages-installed-for-aarch64: PACKAGES = $(AARCH64_PACKAGES)
$(BUILD)/packages-installed-for-container: PACKAGES = $(CONTAINER_PACKAGES)
$(BUILD)/packages-installed-for-deb:   PACKAGES = $(DEB_PACKAGES)
$(BUILD)/packages-installed-for-coverage: PACKAGES = $(COVERAGE_PACKAGES)
$(BUILD)/packages-installed-for-rdma $(BUILD)/packages-installed-for-guest \
$(BUILD)/packages-installed-for-device $(BUILD)/packages-installed-for-deb \
$(BUILD)/packages-installed-for-fuzz $(BUILD)/packages-installed-for-launchers \
$(BUILD)/packages-installed-for-aarch64 $(BUILD)/packages-installed-for-container \
$(BUILD)/packages-installed-for-coverage: \
    | $(BUILD)/packages-installed

MISSING = $(shell for p in $(PACKAGES); do \
            dpkg-query -W -f='$${db:Status-Status}' $$p 2>/dev/null | grep -q '^installed' || \
            echo $$p; done)
AS_ROOT = $(if $(filter 0,$(shell id -u)),,sudo)

$(BUILD)/packages-installed $(BUILD)/packages-installed-for-rdma \
$(BUILD)/packages-installed-for-guest $(BUILD)/packages-installed-for-device \
$(BUILD)/packages-installed-for-deb $(BUILD)/packages-installed-for-fuzz \
$(BUILD)/packages-installed-for-launchers $(BUILD)/packages-installed-for-aarch64 \
$(BUILD)/packages-installed-for-build $(BUILD)/packages-installed-for-container \
$(BUILD)/packages-installed-for-coverage:
	@mkdir -p $(@D)
	@if ! command -v dpkg-query >/dev/null; then \
	    echo "no Debian here: these must be there already: $(PACKAGES)"; \
	elif [ -n "$(MISSING)" ]; then \
	    echo "installing what is missing: $(MISSING)$(if $(AS_ROOT), (with sudo))"; \
	    $(AS_ROOT) apt-get -q update && \
	    $(AS_ROOT) env DEBIAN_FRONTEND=noninteractive \
	        apt-get -q -y --no-install-recommends install $(MISSING); \
	fi
	@touch $@

$(BUILD)/packages-found:
	@mkdir -p $(@D)
	@[ -z "$(MISSING)" ] || ! command -v dpkg-query >/dev/null || \
	    { echo "missing: $(MISSING) (make test and make run install them)"; exit 1; }
	@touch $@

# --- flags -----------------------------------------------------------------------------

LOCO_LIBRARIES := libxxhash libsodium librdmacm libibverbs
LIBRARIES      := libcyaml yaml-0.1 hdf5 jansson ncursesw babeltrace2 libzip expat comedilib zlib libzstd libmicrohttpd nettle \
                  $(LOCO_LIBRARIES)

# pkg-config runs when the flags are first needed, as by then the packages are installed.
once     = $(eval $(1) := $$(shell $(2)))$($(1))
PKG_FLAGS = $(call once,PKG_FLAGS,pkg-config --cflags $(LIBRARIES))
PKG_LIBS  = $(call once,PKG_LIBS,pkg-config --libs $(LIBRARIES))
LOCO_LIBS = $(call once,LOCO_LIBS,pkg-config --libs $(LOCO_LIBRARIES)) -pthread

CFLAGS   ?= -O2 -g
VISIBILITY := -fvisibility=hidden

# Hardening: makes bugs harder to exploit (docs/security.md). _FORTIFY_SOURCE needs optimized code
# and does not work with the sanitizers.
MACHINE   = $(call once,MACHINE,$(CC) -dumpmachine)
FORTIFY   = -U_FORTIFY_SOURCE $(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),$(if \
              $(findstring -fsanitize,$(CFLAGS)),,-D_FORTIFY_SOURCE=3))
HARDEN    = -fstack-protector-strong $(FORTIFY) $(if $(filter x86_64-%,$(MACHINE)),-fcf-protection) \
            $(if $(filter aarch64-%,$(MACHINE)),-mbranch-protection=standard)
HARD_LINK := -Wl,-z,relro,-z,now,-z,noexecstack

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Werror
COMPILE   = $(CC) -std=c17 -D_GNU_SOURCE -I. $(PKG_FLAGS) $(CPPFLAGS) $(CFLAGS) $(WARNINGS) \
            $(VISIBILITY) $(HARDEN) -fPIC -ffp-contract=off
LINK      = $(CC) $(CFLAGS) $(HARD_LINK) $(LDFLAGS)
LIBS      = $(PKG_LIBS) -lm -pthread

# Objects are compiled again when the flags have changed, and not for any other change of this file.
# So $(BUILD)/flags is written only then. The first one is older than any object.
$(shell mkdir -p $(BUILD); new=$(BUILD)/flags.$$$$; \
    { echo '$(VERSION) $(CC) $(CPPFLAGS) $(CFLAGS)'; \
      grep -E '(FLAGS|WARNINGS|VISIBILITY|HARDEN|FORTIFY|COMPILE|PREEMPTED) *:?[+]?=' Makefile; } >$$new; \
    [ -e $(BUILD)/flags ] || touch -d @0 $$new; \
    cmp -s $$new $(BUILD)/flags && rm $$new || mv $$new $(BUILD)/flags)

# --- what is built ---------------------------------------------------------------------

PROGRAMS := hiloco controller converter
MAINS    := $(PROGRAMS:%=harness/%.c)

# The binaries of the FMUs that `hiloco export-fmu` makes. They contain all built-in models.
IN_FMU     := $(patsubst %,harness/tools/export_fmu/%.c,fmi2 fmi3 instance model)
FMU_SHARED := $(BUILD)/libhiloco-fmi2.so $(BUILD)/libhiloco-fmi3.so

CHANNELS := $(wildcard channels/*.c channels/kvstore/*.c)
FABRICS  := $(wildcard channels/fabric/*.c channels/fabric/*/*.c channels/control/*.c)
LOCO     := $(CHANNELS) $(FABRICS)
MODELS   := $(wildcard plants/*.c plants/*/*.c controllers/*.c)
NETLIST  := harness/netlist/hiloco_netlist.c
HARNESS  := $(filter-out $(MAINS) $(NETLIST) $(IN_FMU),$(wildcard harness/*.c harness/*/*.c harness/*/*/*.c))

PROVIDER := $(BUILD)/libhiloco-trace.so

# The soname has the part of the version on which compatibility depends (docs/abi.md): the first
# number, and also the second while the first is 0.
NUMBERS  := $(subst ., ,$(VERSION))
ABI      := $(patsubst 0,0.$(word 2,$(NUMBERS)),$(firstword $(NUMBERS)))
SONAME   := libloco.so.$(ABI)
SHARED   := $(BUILD)/libloco.so.$(VERSION)

HIL_SONAME := libhiloco.so.$(ABI)
HIL_SHARED := $(BUILD)/libhiloco.so.$(VERSION)

# The Python package, as a folder for Python's path. What describes it has its version in its name.
PYTHON       := $(BUILD)/python/hiloco-$(VERSION).dist-info/METADATA
PYTHON_FILES := $(wildcard harness/python/hiloco/*)

INSTALLED := $(SHARED) $(HIL_SHARED) $(BUILD)/installed/libloco.a $(BUILD)/libloco-sim.a

objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

all: $(PROGRAMS:%=$(BUILD)/%) $(BUILD)/loco-conform $(PROVIDER) $(BUILD)/hiloco-netlist $(FMU_SHARED) $(PYTHON)

$(BUILD)/libloco.a:    $(call objects,$(LOCO))
$(BUILD)/libmodels.a:  $(call objects,$(MODELS))
$(BUILD)/libharness.a: $(call objects,$(HARNESS))

ARCHIVES := $(BUILD)/libharness.a $(BUILD)/libmodels.a $(BUILD)/libloco.a

$(BUILD)/%.a:
	@rm -f $@
	$(AR) rcs $@ $^

$(PROGRAMS:%=$(BUILD)/%): $(BUILD)/%: $(BUILD)/obj/harness/%.o $(ARCHIVES)
	$(LINK) -pie -o $@ $^ $(LIBS)

# Reports what a network card does.
$(BUILD)/loco-conform: $(call objects,$(wildcard channels/conform/*.c)) $(BUILD)/libloco.a
	$(LINK) -pie -o $@ $^ $(LOCO_LIBS) $$(pkg-config --libs jansson)

# The LTTng provider, which a program loads when it is traced.
$(PROVIDER): $(call objects,traces/provider.c)
	$(LINK) -shared -Wl,-z,defs -o $@ $^ $$(pkg-config --libs lttng-ust)

# Simulates a netlist. The other programs start it.
$(BUILD)/hiloco-netlist: $(call objects,$(NETLIST))
	$(LINK) -pie -o $@ $^ -lngspice -lm

# -Bsymbolic makes each FMU call its own functions when several are loaded into one process.
$(FMU_SHARED): $(BUILD)/libhiloco-%.so: $(BUILD)/obj/harness/tools/export_fmu/%.o \
               $(call objects,$(patsubst %,harness/tools/export_fmu/%.c,instance label model variables) \
               harness/models/builtin.c $(patsubst %,harness/models/provider/%.c,native_component private_copy tables)) \
               $(BUILD)/libmodels.a
	$(LINK) -shared -Wl,-z,defs -Wl,-Bsymbolic -Wl,--strip-debug -o $@ $^ -lm

$(PYTHON): harness/python/METADATA.in harness/python/entry_points.txt $(PYTHON_FILES)
	@rm -rf $(BUILD)/python
	@mkdir -p $(@D) $(BUILD)/python/hiloco
	@cp $(filter %.py %.typed,$(PYTHON_FILES)) $(BUILD)/python/hiloco
	@cp harness/python/entry_points.txt $(@D)
	@sed 's|@version@|$(VERSION)|' $< >$@

$(BUILD)/obj/%.o: %.c $(BUILD)/flags | $(NEEDED)
	@mkdir -p $(@D)
	$(COMPILE) -MMD -MP -c -o $@ $<

# Fibers return on another stack than they were called on, which a shadow stack does not allow.
$(call objects,channels/fabric/fiber.c): HARDEN += $(if $(filter x86_64-%,$(MACHINE)),-fcf-protection=branch)

$(call objects,harness/base/version.c channels/conform/conform.c channels/conform/card.c): CPPFLAGS += -DHIL_VERSION='"$(VERSION)"'

# The program contains the figures' scripts.
$(BUILD)/obj/harness/figures/figure_scripts.o: $(wildcard traces/*.gp)

# And the pages of the models.
$(BUILD)/model_pages.txt: harness/models/pages.awk $(wildcard $(addsuffix /*.[ch],plants controllers))
	@mkdir -p $(@D)
	awk -f $^ > $@.part && mv $@.part $@
$(call objects,harness/models/pages.c): $(BUILD)/model_pages.txt
$(call objects,harness/models/pages.c): CPPFLAGS += -DHIL_MODEL_PAGES='"$(BUILD)/model_pages.txt"'

# It also contains the pages of the report and of the scope.
$(BUILD)/obj/harness/tools/report/page_parts.o: $(wildcard $(addprefix harness/tools/report/*.,js css html))
$(BUILD)/obj/harness/tools/scope/page.o: $(wildcard $(addprefix harness/tools/scope/page/*.,js css html) harness/tools/report/*.js)

# --- run: the reference scenario, and the figure -----------------------------------------

PERIODS := 10,20,30,40,50,60,80,100

SWEEP   := $(BUILD)/hiloco sweep configs/dcdc20.yaml --set nodes.controller.period_us=$(PERIODS)

# The shortest period of the controller that this machine holds is one of those that are drawn, if it
# is among them. Far beyond them the loop would leave the figure's scale.
HELD_PERIOD := $$(awk -v all=",$(PERIODS)," \
    '$$1 == "controller" && $$3 + 0 > 0 && $$3 < 100 && !index(all, "," $$3 ",") {print "," $$3}' \
    $(BUILD)/capacity.txt)

run: all
	@if [ "$$(nproc)" -lt 2 ]; then \
	    echo "real time: skipped, it needs two cores" | tee $(BUILD)/capacity.txt; \
	else \
	    echo "real time: finding the periods that this machine holds, in about 20 s" && \
	    $(BUILD)/hiloco doctor configs/dcdc20.yaml --capacity >$(BUILD)/capacity.txt; \
	fi
	@echo "virtual time: 20 converters for 5 s, once for each controller period"
	@$(SWEEP)$(HELD_PERIOD) --mode virtual --out $(RESULTS)/figure >$(BUILD)/sweep.txt
	@$(BUILD)/hiloco plot $(RESULTS)/figure >/dev/null
	@[ "$$(nproc)" -lt 2 ] || { \
	    echo "real time: 2 s of each, the controller and the converters as separate processes" && \
	    $(SWEEP)$(HELD_PERIOD) --mode realtime --set duration_s=2 --set record.0.signals=converter.voltage_v \
	        --set validity.required=false --out $(RESULTS)/realtime >$(BUILD)/realtime.txt && \
	    $(BUILD)/hiloco plot $(RESULTS)/realtime >/dev/null && \
	    $(BUILD)/hiloco plot $(RESULTS)/realtime/nodes.controller.period_us=40 >/dev/null && \
	    $(BUILD)/hiloco plot $(RESULTS)/figure --beside $(RESULTS)/realtime >/dev/null; \
	}
	@echo
	@cat $(BUILD)/sweep.txt; [ "$$(nproc)" -lt 2 ] || cat $(BUILD)/realtime.txt
	@echo "figures: $(RESULTS)/figure/figure.png, figure-startup.png, figure-beside.png (virtual and"
	@echo "real time); $(RESULTS)/realtime/figure.png, round-trip.png, nodes.controller.period_us=40/tail.png"
	@tail -1 $(BUILD)/capacity.txt

# The documents' figures, each with the checksums of the files that it is drawn from. A test has the
# programs draw the figures again and compares the checksums, so that no picture is older than the
# code.
# $(call draw,NAME,FIGURE,FILES,COMMAND): docs/NAME.png becomes FIGURE of the results of COMMAND
define draw
@rm -rf $(BUILD)/figure
@$(BUILD)/$(4) --out $(BUILD)/figure >/dev/null
@$(BUILD)/hiloco plot $(BUILD)/figure >/dev/null
@cp $(BUILD)/figure/$(2).png docs/$(1).png
@{ echo "# $(4)"; (cd docs && sha256sum $(1).png); cd $(BUILD)/figure && \
    sha256sum plot/$(2).gp plot/style.gp $(3:%=plot/%); } >docs/$(1).sum
endef

figure: all
	$(call draw,figure,figure,series-panels.gp figure-series-*.dat figure-reference-*.dat,$\
	    $(SWEEP:$(BUILD)/%=%) --mode virtual)
	$(call draw,servo,drive,run-node.gp drive-signal-*.dat,hiloco run configs/servo.yaml)
	$(call draw,battery,stage,run-node.gp stage-signal-*.dat,hiloco run configs/battery.yaml)
	$(call draw,netlist,control,run-node.gp control-signal-2-*.dat control-signal-3-*.dat,$\
	    hiloco run docs/examples/netlist/bucks.yaml)
	$(call draw,faults,output,run-measure.gp output-value-*.dat output-reference-*.dat,$\
	    hiloco run docs/examples/faults/converters.yaml)

# --- tests: one program for each folder of tests -----------------------------------------

TESTS := unit sim run

# Sources of separate programs, and sources that only the simulator's programs have.
SOAK_SHM  := $(wildcard tests/sim/soak*.c)
SIM_APART := $(SOAK_SHM) tests/sim/preempt.c tests/sim/test_preempt.c tests/sim/test_stores.c

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
CHANNEL_TESTS := channels fences litmus locks queues kvstore restarts stopped promises members

# Criterion starts its program anew for each test, and looks into each of the program's libraries
# then. Twenty are only HDF5's, where it is not linked statically, as Debian's can be.
TEST_LIBS = -Wl,--as-needed $(if $(wildcard /usr/lib/*/libhdf5_serial.a),$(patsubst \
                -lhdf5,-l:libhdf5_serial.a -lsz,$(LIBS)),$(LIBS)) $$(pkg-config --libs criterion)

$(filter-out %-sim,$(TESTS:%=$(BUILD)/test-%)): $(call objects,tests/nodes.c tests/limits.c \
                                                tests/no_git.c tests/verdicts.c tests/own_network.c) $(ARCHIVES)
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
$(BUILD)/test-sim:  $(call objects,$(LOCO_SIM) $(filter-out $(SIM_APART),$(wildcard tests/sim/*.c))) \
                    $(BUILD)/sim/tests/sim/test_preempt.o $(BUILD)/sim/tests/sim/test_stores.o
$(BUILD)/test-run:  $(call objects,$(wildcard tests/run/*.c)) \
                    | $(BUILD)/node-bench $(BUILD)/bench-sample $(TEST_FMUS) $(BUILD)/fmu/make_bad

$(BUILD)/test-sim: $(call objects,tests/nodes.c tests/limits.c tests/no_git.c tests/verdicts.c \
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
MUTANTS_ARE_MADE_BY = "$(COMPILE) -w -g0" "$(LINK)" "$(COMPILE) $(PREEMPTED) -w -g0" "$(SIM_LINK)" $(LOCO_LIBS) -lm

TESTED := all $(TESTS:%=$(BUILD)/test-%) $(BUILD)/libloco-sim.a $(BUILD)/soak $(BUILD)/soak-shm \
          $(ON_TCP) $(INSTALLED)

# The stages of `make test`. Tests of real time need the processors; the others have what these leave.
# The suites of tests/run are two stages: those by the clock are alone (tests/run/workspace.h).
ALONE  := tcp clock run
BESIDE := unit install mutants soak sim gates

test: $(TESTED)
	@tests/run_all $(BUILD) --alone $(ALONE) --beside $(BESIDE)

test-unit: all $(BUILD)/test-unit
	@HILOCO_BUILD=$(BUILD) $(BUILD)/test-unit

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

# Suites many times beside a load, to find tests that depend on the machine.
N ?= 20
test-repeat: $(TESTED)
	@tests/repeat $(BUILD) --times $(N) $(if $(FILTER),--filter '$(FILTER)')

# Checks the tree itself: spelling, scripts, suspicious C, and the tree's own rules.
gates test-gates: | $(BUILD)/packages-installed
	@HILOCO_BUILD=$(BUILD) tests/gates/run

# --- coverage: how much of channels/ and harness/run the tests execute ---------------------------

# The stages of COVERED. A test that fails does not end it.
COVERED ?= unit sim soak tcp run clock

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

SEEDS ?= 100000

# All of soak but the channels: each mutant is linked with it.
$(BUILD)/sim/soak.a: $(call objects,tests/sim/soak.c $(SIM_WORKLOADS))

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
fuzz: $(FUZZERS:%=fuzz-%)

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

# --- the rest ----------------------------------------------------------------------------------

SOURCES = $(shell git ls-files '*.c' '*.h' '*.cpp' '*.hpp')

format:
	clang-format -i $(SOURCES)

format-check:
	clang-format --dry-run -Werror $(SOURCES)

# The installed libloco exports the functions of its API, listed in channels/loco.map, and hides the
# rest. So its objects are compiled with everything visible; calls among them are still direct.

$(call objects,$(LOCO)): VISIBILITY := -fno-semantic-interposition
$(call objects,$(LOCO)): channels/loco.map

$(SHARED): channels/loco.map $(call objects,$(LOCO))
	$(LINK) -shared -Wl,-soname,$(SONAME) -Wl,--version-script,$< -Wl,-Bsymbolic-functions \
	    -Wl,-z,defs -o $@ $(filter %.o,$^) $(LOCO_LIBS)

# The archive is one object in which every symbol but the API's is local.
$(BUILD)/installed/libloco.a: channels/loco.map $(call objects,$(LOCO))
	@mkdir -p $(@D)
	@sed -n 's/^ *\(loco_[a-z_]*\);$$/\1/p' $< >$(@D)/api
	$(LD) -r -o $(@D)/loco.o $(filter %.o,$^)
	objcopy --keep-global-symbols=$(@D)/api $(@D)/loco.o
	@rm -f $@
	$(AR) rcs $@ $(@D)/loco.o

# libhiloco, with which a process joins a run: the parts of the harness that hiloco_node.c needs. It
# exports only the functions in harness/hiloco.map.
$(HIL_SHARED): harness/hiloco.map $(BUILD)/obj/harness/hiloco_node.o $(ARCHIVES)
	$(LINK) -shared -Wl,-soname,$(HIL_SONAME) -Wl,--version-script,$< -Wl,-z,defs -Wl,--as-needed \
	    -o $@ $(filter-out %.map,$^) $(LIBS)

# The example of docs/writing-a-node.md, linked with this build's library.
$(BUILD)/node-bench: docs/examples/node/bench.c $(HIL_SHARED)
	ln -sf $(notdir $(HIL_SHARED)) $(BUILD)/$(HIL_SONAME)
	$(CC) -std=c17 $(CPPFLAGS) $(CFLAGS) $(WARNINGS) -Iharness -o $@ $< $(HIL_SHARED) \
	    -Wl,-rpath,'$$ORIGIN'

install: AT = $(DESTDIR)$(PREFIX)
install: all $(INSTALLED)
	install -d $(AT)/bin $(AT)/share/hiloco/configs $(AT)/include/loco/fabric $(AT)/include/loco-sim $(AT)/include/hiloco \
	    $(AT)/lib/pkgconfig $(AT)/lib/hiloco $(patsubst %,$(AT)/share/man/man%,1 3 7)
	install $(PROGRAMS:%=$(BUILD)/%) $(BUILD)/loco-conform $(AT)/bin
	install -m 755 $(PROVIDER) $(BUILD)/hiloco-netlist $(FMU_SHARED) $(AT)/lib/hiloco
	install -m 644 configs/*.yaml configs/*.cir $(AT)/share/hiloco/configs
	install -m 644 $(wildcard channels/loco/*.h channels/loco/*.hpp) $(AT)/include/loco
	install -m 644 $(wildcard channels/loco/fabric/*.h) $(AT)/include/loco/fabric
	install -m 644 plants/model.h $(AT)/include/hiloco
	install -m 644 harness/hiloco_node.h $(AT)/include
	install -d $(AT)/lib/hiloco/models $(AT)/share/hiloco/template $(AT)/share/hiloco/node
	install -m 644 docs/examples/model/* $(AT)/share/hiloco/template
	install -m 644 docs/examples/node/* $(AT)/share/hiloco/node
	install -d $(AT)/lib/hiloco/python/hiloco $(AT)/lib/hiloco/python/$(notdir $(PYTHON:/METADATA=))
	install -m 644 $(BUILD)/python/hiloco/*.* $(AT)/lib/hiloco/python/hiloco
	install -m 644 $(dir $(PYTHON))* $(AT)/lib/hiloco/python/$(notdir $(PYTHON:/METADATA=))
	install -m 644 $(filter-out %_internal.h,$(wildcard channels/loco-sim/*.h)) $(AT)/include/loco-sim
	install -m 644 $(BUILD)/installed/libloco.a $(BUILD)/libloco-sim.a $(AT)/lib
	install -m 755 $(SHARED) $(AT)/lib
	ln -sf $(notdir $(SHARED)) $(AT)/lib/$(SONAME)
	ln -sf $(SONAME) $(AT)/lib/libloco.so
	install -m 755 $(HIL_SHARED) $(AT)/lib
	ln -sf $(notdir $(HIL_SHARED)) $(AT)/lib/$(HIL_SONAME)
	ln -sf $(HIL_SONAME) $(AT)/lib/libhiloco.so
	sed 's|@prefix@|$(PREFIX)|; s|@version@|$(VERSION)|; s|@libs_private@|$(LOCO_LIBS)|' \
	    channels/loco.pc.in >$(AT)/lib/pkgconfig/loco.pc
	sed 's|@prefix@|$(PREFIX)|; s|@version@|$(VERSION)|' channels/loco-sim/loco-sim.pc.in \
	    >$(AT)/lib/pkgconfig/loco-sim.pc
	sed 's|@prefix@|$(PREFIX)|; s|@version@|$(VERSION)|' harness/hiloco.pc.in \
	    >$(AT)/lib/pkgconfig/hiloco.pc
	for s in 1 3 7; do install -m 644 docs/man/*.$$s $(AT)/share/man/man$$s || exit 1; done
	install -d $(AT)/share/bash-completion/completions $(AT)/share/zsh/vendor-completions
	install -m 644 harness/completion/hiloco.bash $(AT)/share/bash-completion/completions/hiloco
	ln -sf hiloco $(AT)/share/bash-completion/completions/controller
	ln -sf hiloco $(AT)/share/bash-completion/completions/converter
	ln -sf hiloco $(AT)/share/bash-completion/completions/loco-conform
	install -m 644 harness/completion/_hiloco $(AT)/share/zsh/vendor-completions

# Builds the Debian packages from the committed tree, in a separate folder.
DEB := $(BUILD)/deb/hiloco-$(VERSION)

comma := ,
empty :=
deb: | $(BUILD)/packages-installed-for-deb
	rm -rf $(BUILD)/deb
	mkdir -p $(DEB)
	git archive HEAD | tar -x -C $(DEB)
	cp -r harness/debian $(DEB)
	sed -i 's/@VERSION@/$(VERSION)/' $(DEB)/debian/changelog
	sed -i 's/@BUILD_PACKAGES@/$(subst $(empty) ,$(comma) ,$(strip $(filter-out gcc libc6-dev make pkg-config,$(BUILD_PACKAGES))))/' \
	    $(DEB)/debian/control
	cd $(DEB) && dpkg-buildpackage --build=binary --no-sign
	@ls $(BUILD)/deb/*.deb

# Checks the packages with lintian, and installs, uses and removes them in a bare Debian that the
# test makes.
test-deb: deb
	tests/install/test_deb.sh $(BUILD)/deb

# Runs the README's commands as a newcomer does. Run it before each release.
test-bare: | $(BUILD)/packages-installed-for-deb
	tests/install/test_bare.sh $(BUILD)/bare

# Tests the recipe of docs/container.md on a Debian that the test makes.
test-container: | $(BUILD)/packages-installed-for-container
	tests/container/run $(BUILD)/container

clean:
	rm -rf $(BUILD)

help:
	@echo "make            build the programs: $(PROGRAMS:%=$(BUILD)/%)"
	@echo "make run        run the reference scenario, and draw the figure"
	@echo "make figure     draw the documents' figures again, when what they show has changed"
	@echo "make test       run the tests; one stage of them: make test-S, S one of $(ALONE) $(BESIDE)"
	@echo "make test-repeat N=20 tests that the clock could make fail, beside a load (FILTER='SUITE/TEST')"
	@echo "make gates      check spelling, scripts, suspicious C, and the tree's own rules"
	@echo "make coverage   how much of channels/ and harness/run tests execute (COVERED='$(COVERED)')"
	@echo "make test-launchers start a scenario by mpirun, by srun and by ssh, all on this machine"
	@echo "make test-rdma  run tests over RDMA: in a guest with soft-RoCE, or on RDMA_DEVICE=mlx5_0"
	@echo "make test-device run tests of cards and CAN buses, in a guest (GUEST_KERNEL=$(GUEST_KERNEL))"
	@echo "make test-aarch64 build for aarch64, and run the tests of channels and virtual time by QEMU"
	@echo "make soak       run every channel under chaos for SEEDS=$(SEEDS) seeds, litmus tests for ROUNDS, circuits"
	@echo "make bench      measure, and write $(BUILD)/bench.json (BENCH='--quick', '--only GLOB', '--help')"
	@echo "make bench-compare A.json B.json   compare two such files"
	@echo "make lateness   of that only: how late loops wake up (LATENESS='--seconds S ...')"
	@echo "make bench-rdma measure beside perftest, as test-rdma; writes $(BUILD)/rdma/bench.json"
	@echo "make sanitize   run tests under Address-, UndefinedBehaviour- and ThreadSanitizer"
	@echo "make fuzz       run each fuzzer for SECONDS=$(SECONDS) s, from its corpus in tests/fuzz"
	@echo "make format     format the sources (format-check: only look)"
	@echo "make install    install under PREFIX=$(PREFIX), DESTDIR=$(DESTDIR)"
	@echo "make deb        Debian packages, in $(BUILD)/deb; make test-deb installs them in a bare Debian"
	@echo "make test-bare  run make run and make test in a bare Debian, from a clean clone of HEAD: before each release"
	@echo "make test-container build a container image by docs/examples/container, and run scenarios in it"
	@echo "make clean      remove $(BUILD)"
	@echo "run, test, soak, bench, lateness, sanitize, fuzz, the rdma, device, aarch64, container and bare ones install missing packages first"

# Not those of the builds below $(BUILD), which may be under way: fuzz, asan, aarch64...
-include $(shell find $(addprefix $(BUILD)/,obj sim plain) -name '*.d' 2>/dev/null)

.PHONY: all run figure test test-unit test-run test-clock test-soak test-sim test-mutants test-install test-gates \
        test-repeat test-tcp test-launchers test-rdma test-device test-aarch64 test-container deb test-deb \
        test-bare gates coverage coverage-run soak rivals bench bench-rdma lateness sanitize sanitize-run \
        sanitize-threads fuzz $(FUZZERS:%=fuzz-%) fuzzers format format-check install clean help
.DELETE_ON_ERROR:
