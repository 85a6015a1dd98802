ifeq ($(filter -j%,$(MAKEFLAGS))$(findstring jobserver,$(MAKEFLAGS)),)
MAKEFLAGS += -j2
endif
$(info at parse: [$(MAKEFLAGS)])
all: a b
	@echo in recipe: $(MAKEFLAGS)
a b:
	@echo $@ begin; sleep 1; echo $@ end
