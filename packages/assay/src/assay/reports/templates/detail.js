// The drawer: everything that was observed for one row.
const COMPARED = [
  ["budget_used", "Budget used"], ["max_abs", "Max abs"], ["max_rel", "Max rel"], ["rel_l2", "Relative L2"],
  ["cosine", "Cosine"], ["sqnr_db", "SQNR"], ["psnr_db", "PSNR"], ["share_out_of_tolerance", "Out of tolerance"],
];

const titled = (title, ...content) => [make("h4", {}, title), ...content];
const some = (list) => list && list.length > 0;

function stageBars(stages) {
  const total = stages.reduce((sum, [, seconds]) => sum + seconds, 0) || 1;
  const rows = stages.map(([name, seconds, text]) => {
    const image = draw("svg", { viewBox: "0 0 200 10", preserveAspectRatio: "none", "aria-hidden": "true", class: "share" });
    image.append(draw("rect", { class: "bar-mark", width: Math.max(1, (seconds / total) * 200), height: 10 }));
    return [name, text, image];
  });
  return table(["stage", "took", "share of all"], rows);
}

function comparisonParts(compared) {
  const shown = new Set(COMPARED.map(([name]) => name));
  const rest = Object.entries(compared.metrics).filter(([name]) => !shown.has(name));
  const parts = titled(`Output ${compared.output}`, make("p", { class: "muted small" }, `${compared.about}; ${compared.allowed}`));
  for (const [kind, text] of compared.findings) {
    parts.push(make("p", { class: "callout w-fail" }, make("b", {}, `${kind}: `), ...prose(text)));
  }
  if (compared.degenerate) {
    parts.push(make("p", { class: "callout w-inconclusive" }, make("b", {}, "degenerate: "), compared.degenerate));
  }
  const plots = [];
  if (compared.errors) plots.push(histogram("Absolute error", compared.errors));
  if (compared.ulps) plots.push(histogram("Error in ULP", compared.ulps));
  if (plots.length) parts.push(make("div", { class: "plots" }, ...plots));
  if (some(compared.worst)) parts.push(...titled("Worst elements", table(["index", "expected", "actual", "difference"], compared.worst, 1)));
  if (rest.length) parts.push(make("details", {}, make("summary", { class: "muted small" }, `${rest.length} more figures`), pairs(rest)));
  return parts;
}

function comparisons(list) {
  if (!some(list)) return [];
  const columns = COMPARED.filter(([name]) => list.some((compared) => name in compared.metrics));
  const rows = list.map((compared) => [compared.output, ...columns.map(([name]) => compared.metrics[name] ?? "")]);
  return [
    ...titled("Comparison with the reference", table(["output", ...columns.map(([, title]) => title)], rows, 1)),
    ...list.flatMap(comparisonParts),
  ];
}

// Nodes are ranked by a click on the head of a column; the plots keep the order of the graph.
const NODE_HEADS = ["#", "node", "operator", "own budget", "SQNR dB", "adds", "cosine", "output"];

function nodeErrors(nodes) {
  const plots = make("div", { class: "plots" });
  if (nodes.some((node) => node[8] !== null)) plots.append(graphPlot("Own budget used, log scale: above 1 a node is wrong", nodes, 8, true));
  if (nodes.some((node) => node[9] !== null)) plots.append(graphPlot("SQNR against the float model in dB", nodes, 9, false));
  const keys = { 0: (node) => node[0], 3: (node) => -(node[8] ?? -1), 4: (node) => node[9] ?? Infinity, 5: (node) => -(node[10] ?? -1) };
  const place = make("div", {});
  const show = (column) => {
    const rows = [...nodes].sort((a, b) => keys[column](a) - keys[column](b)).map((node) => node.slice(0, 8).map(String));
    place.replaceChildren(table(NODE_HEADS, rows));
  };
  const by = Object.keys(keys).map(Number).map((column) => make("button", { type: "button", on: { click: () => show(column) } },
    { 0: "order of the graph", 3: "own error", 4: "lowest SQNR", 5: "added error" }[column]));
  show(3);
  const what = "Own budget: the node on the engine's own inputs, 1 is what is allowed. SQNR, cosine and the added relative error: "
    + "the engine's tensor against the float model in float64.";
  return titled(`Nodes (${nodes.length})`, make("p", { class: "muted small" }, what), plots,
    make("p", { class: "small" }, "Rank by ", ...by.flatMap((button) => [button, " "])), place);
}

function measurement(taken) {
  const parts = titled(`Batch ${taken.batch}`, pairs(taken.figures));
  if (taken.points.length) parts.push(latencyPlot(taken));
  return parts;
}

const MOST_CLASSES = 40;

function classTable({ header, rows }) {
  const shown = table(header, rows, 1);
  return rows.length > MOST_CLASSES ? make("details", {}, make("summary", { class: "muted small" }, `${rows.length} classes`), shown) : shown;
}

function reasons(entry) {
  return entry.reasons.map(([word, text, figure]) => make("p", { class: `callout ${className(word)}` },
    wordMark(word), " ", ...prose(text), figure ? make("span", { class: "muted" }, ` (${figure})`) : ""));
}

function job(entry) {
  const parts = [make("h3", {}, entry.kind), ...reasons(entry)];
  if (entry.detail && !entry.reasons.some(([, text]) => text.includes(entry.detail))) {
    const missing = entry.outcome === "unavailable";
    parts.push(make("p", { class: "callout" }, missing ? make("b", {}, "Not available here: ") : "", ...prose(entry.detail)));
  }
  parts.push(...titled("Repeat exactly this job", copyable(entry.repro)));
  if (!entry.outcome) {
    parts.push(make("p", { class: "callout" }, "No result was recorded for this job."));
    return make("section", { class: "job" }, ...parts);
  }
  parts.push(...titled("How it ended", pairs(entry.ended)));
  if (some(entry.inputs)) parts.push(...titled("Inputs", table(["input", "type and shape", "values", "how chosen"], entry.inputs)));
  if (some(entry.findings)) parts.push(...titled("Findings", table(["output", "kind", "what"], entry.findings)));
  if (some(entry.taskMetrics)) parts.push(...titled("What users mean by the same answer", pairs(entry.taskMetrics)));
  if (some(entry.classes.rows)) parts.push(...titled("Class by class", classTable(entry.classes)));
  parts.push(...comparisons(entry.comparisons));
  parts.push(...entry.measurements.flatMap(measurement));
  if (entry.soak) parts.push(...titled("Memory over many calls", pairs(entry.soak.figures), soakPlot(entry.soak)));
  if (entry.sweep) {
    parts.push(...titled("Batch sizes", table(entry.sweep.header, entry.sweep.rows, 1)));
    parts.push(make("p", { class: "muted small" }, entry.sweep.knee));
    parts.push(make("div", { class: "plots" }, curvePlot("Latency in ms", entry.curve, 1), curvePlot("Throughput per second", entry.curve, 2)));
  }
  if (some(entry.nodes)) parts.push(...nodeErrors(entry.nodes));
  if (some(entry.costs)) {
    parts.push(...titled("Where the time goes, old engine and new", table(["difference", "operator", "name", "before", "after", "what changed"], entry.costs)));
  }
  if (some(entry.launches.rows)) {
    const told = make("summary", { class: "muted small" }, `${entry.launches.rows.length} launches, each a fresh pair of engines`);
    parts.push(...titled("Launches", make("details", {}, told, table(entry.launches.header, entry.launches.rows, 0))));
  }
  if (some(entry.changes)) parts.push(...titled("What changed in the engine", make("p", {}, entry.changes.join(", "))));
  if (some(entry.stages)) parts.push(...titled("Stages", stageBars(entry.stages)));
  if (some(entry.build)) parts.push(...titled("What was built", pairs(entry.build)));
  if (some(entry.placements)) parts.push(...titled("Where operators ran", table(["operator", "device", "precision", "role", "count"], entry.placements, 4)));
  if (some(entry.undelegated)) parts.push(...titled("Not delegated", make("p", {}, entry.undelegated.join(", "))));
  if (some(entry.warnings)) parts.push(...titled("Warnings", make("pre", { tabindex: 0 }, entry.warnings.join("\n"))));
  if (entry.log) parts.push(...titled("Native output", make("pre", { tabindex: 0 }, entry.log)));
  if (some(entry.traces)) {
    const link = ([path, href]) => make("li", {}, make("a", { href, download: "" }, path));
    parts.push(...titled("Trace of the backend (.json opens in ui.perfetto.dev)", make("ul", {}, ...entry.traces.map(link))));
  }
  if (some(entry.versions)) parts.push(...titled("Environment", pairs(entry.versions)));
  return make("section", { class: "job" }, ...parts);
}

function detailView(row, place, steps) {
  const step = (name, act) => make("button", { type: "button", disabled: !act, on: { click: act ?? (() => {}) } }, name);
  const bar = make("div", { class: "detail-bar" }, make("span", { class: "muted" }, place),
    step("Previous", steps.previous), step("Next", steps.next),
    make("button", { type: "button", autofocus: true, on: { click: steps.close } }, "Close"));
  const heading = make("h2", { id: "detail-title" }, `${row.case} on ${row.flow}`);
  return [bar, make("div", { class: "detail-body" }, heading,
    ...row.entries.map(job),
    ...(some(row.model) ? [make("section", { class: "job" }, make("h3", {}, "Model"), pairs(row.model))] : []))];
}

const blocks = new Map();

async function detailOf(number, rowsPerBlock) {
  const block = Math.floor(number / rowsPerBlock);
  if (!blocks.has(block)) blocks.set(block, inflate(byId("details").textContent.split("\n")[block]));
  return (await blocks.get(block))[number % rowsPerBlock];
}

async function inflate(line) {
  const bytes = Uint8Array.from(atob(line), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}
