# Debian's packages: what each goal needs, and how it is installed or found missing.

BUILD_PACKAGES := gcc libc6-dev make pkg-config libcyaml-dev libyaml-dev libhdf5-dev libjansson-dev \
                  libxxhash-dev libsodium-dev libibverbs-dev librdmacm-dev \
                  libncurses-dev liblttng-ust-dev libbabeltrace2-dev libzip-dev libexpat1-dev \
                  libcomedi-dev libngspice0-dev libzstd-dev zlib1g-dev libmicrohttpd-dev nettle-dev \
                  gnuplot-nox
TEST_PACKAGES  := libcriterion-dev lttng-tools babeltrace2 zip chromium-headless-shell python3-h5py python3-pytest node-ajv node-js-yaml universal-ctags \
                  mkdocs mkdocs-material mandoc python3-pandas python3-matplotlib \
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

# These goals install missing packages, `make run` only what building and drawing need. Other goals
# only list them.
ifeq ($(MAKECMDGOALS),run)
NEEDED := $(BUILD)/packages-installed-for-build
else ifneq ($(filter run site test test-all gates coverage test-rdma test-device test-launchers test-aarch64 test-container \
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
