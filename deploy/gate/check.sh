#!/usr/bin/env bash
# `assay check` with the inputs of a step (ASSAY_MODELS ...). Its reports go to assay-reports/; its annotations and its summary go
# where GitHub looks for them. Ends with 0: the last step of the action says the verdict.
set -uo pipefail
shopt -s globstar
reports=${ASSAY_REPORTS:-assay-reports}
if ! { rm -rf "$reports" && mkdir -p "$reports" && : > "$reports/log.txt"; } 2>/dev/null; then
  said="$PWD/$reports cannot be written, and nothing was checked; name another folder in the variable ASSAY_REPORTS, or give this user the right to write"
  printf '::error title=Assay::%s\n' "$said"
  if [ -n "${GITHUB_OUTPUT:-}" ]; then printf 'exit-code=2\nreports=%s\n' "$reports" >> "$GITHUB_OUTPUT"; exit 0; fi
  exit 2
fi

arguments=()
# Not quoted: the shell finds the files. A pattern that matches nothing stays as it is, and `assay check` says that there is no such file.
for model in ${ASSAY_MODELS:-}; do arguments+=("$model"); done
set -f
for flow in ${ASSAY_FLOWS:-}; do arguments+=(--flow "$flow"); done
set +f
if [ -n "${ASSAY_GOLDEN:-}" ]; then arguments+=(--golden "$ASSAY_GOLDEN"); fi
if [ -n "${ASSAY_POLICY:-}" ]; then arguments+=(--policy "$ASSAY_POLICY"); fi
if [ -n "${ASSAY_CONFIG:-}" ]; then arguments+=(--config "$ASSAY_CONFIG"); fi
while IFS= read -r line; do if [ -n "$line" ]; then arguments+=("$line"); fi; done <<< "${ASSAY_ARGUMENTS:-}"

assay check "${arguments[@]}" --report markdown="$reports/summary.md" --report github="$reports/annotations.txt" \
  --report gitlab="$reports/code-quality.json" --report junit="$reports/junit.xml" --report html="$reports/report.html" \
  --report json="$reports/results.json" 2> >(tee "$reports/log.txt" >&2)
code=$?
wait

if [ ! -s "$reports/summary.md" ]; then
  # Bad input ends before there is anything to report: its sentence is the annotation and the summary.
  said=$(grep '^assay: ' "$reports/log.txt" | tail -1 | cut -c8-)
  said=${said:-assay ended with exit code $code before it wrote a report; see the log of this step}
  printf '## Assay: nothing was checked\n\n%s\n' "$said" > "$reports/summary.md"
  said=${said//'%'/%25}
  printf '::error title=Assay::%s\n' "$said" > "$reports/annotations.txt"
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  cat "$reports/annotations.txt"
  cat "$reports/summary.md" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
  printf 'exit-code=%s\nreports=%s\n' "$code" "$reports" >> "$GITHUB_OUTPUT"
  exit 0
fi
exit "$code"
