#!/usr/bin/env bash
# An environment of its own with the Assay of this checkout and what its flows need; its programs come first on the PATH of later steps.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
home=${RUNNER_TEMP:-/tmp}/assay-gate
python3 -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "assay needs Python 3.11 or newer: put actions/setup-python before it")'
python3 -m venv "$home"
"$home/bin/pip" install --quiet "$source/packages/assay"
# Each extra is named after the backend that it installs, and the command knows which backend a flow is of.
extras=$("$home/bin/python" "$source/deploy/gate/extras.py" ${ASSAY_FLOWS:-} --config "${ASSAY_CONFIG:-assay.toml}")
if [ -n "$extras" ]; then "$home/bin/pip" install --quiet "$source/packages/assay[$extras]"; fi
if [ -n "${ASSAY_PACKAGES:-}" ]; then "$home/bin/pip" install --quiet $ASSAY_PACKAGES; fi
echo "$home/bin" >> "${GITHUB_PATH:-/dev/null}"
