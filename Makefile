# hiloco: one Makefile for the whole tree.  `make help` lists the targets.

PREFIX  ?= /usr/local
DESTDIR ?=
BUILD   ?= build
CC      ?= gcc

PACKAGES      := libcyaml yaml-0.1 hdf5 jansson libxxhash
TEST_PACKAGES := criterion

CPPFLAGS += -I. -D_GNU_SOURCE $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null)
CFLAGS   ?= -O2 -g
CFLAGS   += -std=c17 -fvisibility=hidden -fPIC -ffp-contract=off \
            -Wall -Wextra -Wshadow -Wconversion -Werror
LDLIBS   += $(shell pkg-config --libs $(PACKAGES) 2>/dev/null) -lm -pthread

# --- what is built -------------------------------------------------------------------

PROGRAMS := hiloco controller converter
MAINS    := $(PROGRAMS:%=harness/%.c)

LOCO    := $(wildcard channels/*.c channels/fabric/*.c)
MODELS  := $(wildcard plants/*.c controllers/*.c)
HARNESS := $(filter-out $(MAINS),$(wildcard harness/*.c))

objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

all: $(PROGRAMS:%=$(BUILD)/%)

$(BUILD)/libloco.a:    $(call objects,$(LOCO))
$(BUILD)/libmodels.a:  $(call objects,$(MODELS))
$(BUILD)/libharness.a: $(call objects,$(HARNESS))

$(BUILD)/%.a:
	@mkdir -p $(@D)
	@rm -f $@
	$(AR) rcs $@ $^

LIBS := $(BUILD)/libharness.a $(BUILD)/libmodels.a $(BUILD)/libloco.a

$(PROGRAMS:%=$(BUILD)/%): $(BUILD)/%: $(BUILD)/obj/harness/%.o $(LIBS)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# --- tests: one program for each folder of tests -------------------------------------

$(BUILD)/test-%: $(LIBS)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS) $(LDLIBS) \
	    $(shell pkg-config --libs $(TEST_PACKAGES))

$(BUILD)/test-unit: $(call objects,$(wildcard tests/unit/*.c))
$(BUILD)/test-sim:  $(call objects,$(wildcard tests/sim/*.c))
$(BUILD)/test-run:  $(call objects,$(wildcard tests/run/*.c))

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

.PHONY: all clean
