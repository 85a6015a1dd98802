# hiloco: the whole tree is built by one make.  `make help` lists the targets.

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

include harness/packages.mk

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
      grep -hE '(FLAGS|WARNINGS|VISIBILITY|HARDEN|FORTIFY|COMPILE|PREEMPTED) *:?[+]?=' Makefile tests/tests.mk; } >$$new; \
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

# For editors; the scenarios of configs/ name the first one by its path from there. A program that
# was compiled for another machine does not run here.
SCHEMAS := $(if $(findstring --sysroot,$(CC)),,$(patsubst %,$(BUILD)/schema/%.json,scenario summary sweep))

# A page for each command that has none in docs/man.
PAGES := $(if $(SCHEMAS),$(BUILD)/man/made)

# The documents as they are installed, with a page of each model.
DOCUMENTS := $(if $(SCHEMAS),$(BUILD)/documents/index.md)

INSTALLED := $(SHARED) $(HIL_SHARED) $(BUILD)/installed/libloco.a $(BUILD)/libloco-sim.a

objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

all: $(PROGRAMS:%=$(BUILD)/%) $(BUILD)/loco-conform $(PROVIDER) $(BUILD)/hiloco-netlist $(FMU_SHARED) $(PYTHON) \
     $(SCHEMAS)

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

$(BUILD)/schema/%.json: $(BUILD)/hiloco
	@mkdir -p $(@D)
	$< schema $* >$@.part && mv $@.part $@

$(PAGES): harness/commands/page.awk $(BUILD)/hiloco
	@rm -rf $(@D) && mkdir -p $(@D)
	@$(BUILD)/hiloco --help >$(@D)/overview
	@for c in $$(sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' $(@D)/overview); do \
	    [ -e docs/man/hiloco-$$c.1 ] || { $(BUILD)/hiloco $$c --help; \
	        [ $$c != scope ] || $(BUILD)/hiloco scope --capture=x --help; } | \
	        awk -v command=$$c -f $< $(@D)/overview - >$(@D)/hiloco-$$c.1 || exit 1; \
	done
	@touch $@

$(DOCUMENTS): docs/site/site.py $(BUILD)/hiloco README.md $(shell find docs -type f)
	@python3 -B $< $(BUILD) documents
	@touch $@

# The documents as HTML, with search, and with pages of the commands and functions.
site: all $(PAGES) | $(BUILD)/packages-installed
	@python3 -B docs/site/site.py $(BUILD) html

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

# What a new project has.
$(BUILD)/obj/harness/commands/command_new.o: $(wildcard harness/commands/new/*) plants/model.h \
    $(addprefix docs/examples/,model/rc.c program/rc.py circuit/buck.cir circuit/buck.yaml) $(wildcard docs/examples/pytest/*)

$(BUILD)/obj/harness/commands/command_wrap.o: harness/commands/wrap/Makefile

# The schemas of results.
$(BUILD)/obj/harness/commands/command_schema.o: $(wildcard harness/*/*_schema.json harness/*/*/*_schema.json)

# It also contains the pages of the report and of the scope.
SHARED_PAGE := $(wildcard harness/tools/page/*.js)
$(BUILD)/obj/harness/tools/report/page_parts.o: $(wildcard $(addprefix harness/tools/report/*.,js css html)) $(SHARED_PAGE)
$(BUILD)/obj/harness/tools/scope/page.o: $(wildcard $(addprefix harness/tools/scope/page/*.,js css html)) $(SHARED_PAGE)

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
	$(call draw,llc,stage,run-node.gp stage-signal-*.dat,hiloco run docs/examples/circuit/llc.yaml)
	$(call draw,four-phases,stage,run-node.gp stage-signal-*.dat,$\
	    hiloco run docs/examples/circuit/four_phases.yaml)
	$(call draw,grid-inverter,controller,run-node.gp controller-signal-*.dat,$\
	    hiloco run docs/examples/circuit/grid_inverter.yaml)

include tests/tests.mk

# --- the rest ----------------------------------------------------------------------------------

SOURCES = $(shell git ls-files '*.c' '*.h' '*.cpp' '*.hpp')

format:
	@clang-format -i $(SOURCES)

format-check:
	@clang-format --dry-run -Werror $(SOURCES)

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
install: all $(INSTALLED) $(PAGES) $(DOCUMENTS)
	install -d $(AT)/bin $(AT)/share/hiloco/configs $(AT)/include/loco/fabric $(AT)/include/loco-sim $(AT)/include/hiloco \
	    $(AT)/lib/pkgconfig $(AT)/lib/hiloco $(patsubst %,$(AT)/share/man/man%,1 3 7)
	install $(PROGRAMS:%=$(BUILD)/%) $(BUILD)/loco-conform $(AT)/bin
	install -m 755 $(PROVIDER) $(BUILD)/hiloco-netlist $(FMU_SHARED) $(AT)/lib/hiloco
	install -m 644 configs/*.yaml configs/*.cir $(AT)/share/hiloco/configs
	install -d $(AT)/share/hiloco/circuits
	install -m 644 plants/circuits/*.cir $(AT)/share/hiloco/circuits
	sed -i 's|$$schema=../build/|$$schema=../|' $(AT)/share/hiloco/configs/*.yaml
	install -d $(AT)/share/hiloco/schema
	install -m 644 $(SCHEMAS) $(AT)/share/hiloco/schema
	install -m 644 $(wildcard channels/loco/*.h channels/loco/*.hpp) $(AT)/include/loco
	install -m 644 $(wildcard channels/loco/fabric/*.h) $(AT)/include/loco/fabric
	install -m 644 $(patsubst %,plants/%.h,model code firmware) $(AT)/include/hiloco
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
	install -m 644 $(BUILD)/man/*.1 $(AT)/share/man/man1
	for s in 1 3 7; do install -m 644 docs/man/*.$$s $(AT)/share/man/man$$s || exit 1; done
	install -d $(AT)/share/doc/hiloco
	$(if $(DOCUMENTS),cp -r $(BUILD)/documents/. $(AT)/share/doc/hiloco)
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
	@echo "make test-all   these, and rdma, device, launchers and fuzz, in the time that the others leave: what .ci/run does"
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
	@echo "make site       the documents as HTML, in $(BUILD)/site"
	@echo "make deb        Debian packages, in $(BUILD)/deb; make test-deb installs them in a bare Debian"
	@echo "make test-bare  run make run and make test in a bare Debian, from a clean clone of HEAD: before each release"
	@echo "make test-container build a container image by docs/examples/container, and run scenarios in it"
	@echo "make clean      remove $(BUILD)"
	@echo "run, test, soak, bench, lateness, sanitize, fuzz, the rdma, device, aarch64, container and bare ones install missing packages first"

# Not those of the builds below $(BUILD), which may be under way: fuzz, asan, aarch64...
-include $(shell find $(addprefix $(BUILD)/,obj sim plain) -name '*.d' 2>/dev/null)

.PHONY: all run figure site test-site test test-all test-unit test-computed test-run test-clock test-soak test-sim \
        test-mutants test-install test-gates test-fuzz test-repeat test-tcp test-launchers test-rdma test-device \
        test-aarch64 test-container deb test-deb \
        test-bare gates coverage coverage-run soak rivals bench bench-rdma lateness sanitize sanitize-run \
        sanitize-threads fuzz $(FUZZERS:%=fuzz-%) fuzzers format format-check install clean help
.DELETE_ON_ERROR:
