#!/bin/bash
# Makes a folder of Debian's libraries and headers for aarch64, which a cross compiler and QEMU take for
# the root: packages are unpacked there, and nothing is installed on this machine.
#
#     root.sh FOLDER PACKAGE...
set -euo pipefail
root=$1
shift

debian=$("$(dirname "$0")/../debian_sources")
packages=$*
rm -rf "$root"
mkdir -p "$root"
mmdebstrap --quiet --architectures=arm64 --variant=extract --include="${packages// /,}" \
    ${debian% *} "$root" ${debian#* }
# What is a choice among alternatives is made when a package is installed.
ln -sf hdf5-serial.pc "$root/usr/lib/aarch64-linux-gnu/pkgconfig/hdf5.pc"
rm -rf "$root"/usr/share/{doc,man,locale}
