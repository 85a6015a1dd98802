#!/bin/bash
# Runs both commands of the README in a bare Debian, from a clean clone of HEAD, and tells how each
# ended. What they print is also in FOLDER/log.
#
#     test_bare.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."

mkdir -p "$1"
folder=$(realpath "$1")
clone=$folder/hiloco
rm -rf "$clone"
trap 'rm -rf "$clone"' EXIT
git clone --quiet --no-hardlinks . "$clone"
tests/bare_debian "$clone" tests/install/readme_commands.sh make 2>&1 | tee "$folder/log"
