// The table: what is shown, in which order, a page at a time.
const data = JSON.parse(byId("index").textContent);
const PAGE = 100;
const CASE = 0, FLOW = 1, WORD = 2, REASON = 3, FIGURES = 4, TEXTS = 5, OUTCOME = 6, ANSWERED = 7;
const rows = data.rows;
const hay = rows.map((row) => `${row[CASE]} ${row[FLOW]} ${row[WORD]} ${row[REASON]}`.toLowerCase());
const flows = [...new Set(rows.map((row) => row[FLOW]))];
const severity = new Map(data.severity.map((word, i) => [word, i]));
// The first figure that any row has.
const firstFigure = Math.max(0, data.columns.findIndex((_, i) => rows.some((row) => row[FIGURES][i] !== null)));
const names = [...new Set(rows.map((row) => row[CASE]))];
// Few rows and something wrong: the reasons are what a reader came for.
const REASONS_SHOWN = 40;
// A pass has none to read, but where it rests on a limit that the user stated.
const hasReason = (row) => row[WORD] !== "pass" || row[REASON].includes(" decides: ");
const wantsReasons = rows.length <= REASONS_SHOWN && rows.some(hasReason);
const state = {
  view: wantsReasons ? "list" : "matrix", text: "", words: new Set(), figure: firstFigure,
  order: wantsReasons ? "gravest" : "planned", down: true, page: 0,
};
let order = [];

const byText = (a, b) => a.localeCompare(b, "en", { numeric: true });
const grave = (number) => severity.get(rows[number][WORD]);

// What has no figure stands last in either direction.
function byFigure(value, down) {
  return (a, b) => {
    const [left, right] = [value(a), value(b)];
    if (left === null || right === null) return (left === null) - (right === null);
    return down ? right - left : left - right;
  };
}

function filtered() {
  const asked = state.text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [];
  for (let i = 0; i < rows.length; i += 1) {
    if (state.words.size && !state.words.has(rows[i][WORD])) continue;
    if (asked.every((part) => hay[i].includes(part))) found.push(i);
  }
  return found;
}

function listed(found) {
  const flip = state.down ? 1 : -1;
  const by = {
    gravest: (a, b) => flip * (grave(a) - grave(b)),
    name: (a, b) => flip * byText(rows[a][CASE], rows[b][CASE]),
    flow: (a, b) => flip * byText(rows[a][FLOW], rows[b][FLOW]),
  }[state.order];
  if (by) return found.sort(by);
  if (!state.order.startsWith("figure")) return found;
  const column = Number(state.order.slice(6));
  return found.sort(byFigure((number) => rows[number][FIGURES][column], state.down));
}

function cases(found) {
  const grouped = new Map();
  for (const number of found) {
    const name = rows[number][CASE];
    if (!grouped.has(name)) grouped.set(name, new Map());
    grouped.get(name).set(rows[number][FLOW], number);
  }
  const lines = [...grouped];
  const gravest = (cells) => Math.min(...[...cells.values()].map(grave));
  if (state.order === "gravest") lines.sort((a, b) => gravest(a[1]) - gravest(b[1]));
  if (state.order === "name") lines.sort((a, b) => (state.down ? 1 : -1) * byText(a[0], b[0]));
  if (state.order.startsWith("in ")) {
    const flow = state.order.slice(3);
    const value = ([, cells]) => (cells.has(flow) ? rows[cells.get(flow)][FIGURES][state.figure] : null);
    lines.sort(byFigure(value, state.down));
  }
  return lines;
}

function sortHead(text, key, hint, attributes = {}) {
  const direction = state.order === key ? (state.down ? "descending" : "ascending") : "none";
  const named = ["name", "flow", "gravest"].includes(key) && direction !== "none";
  const told = named ? (state.down ? "ascending" : "descending") : direction;
  const click = () => {
    state.down = state.order === key ? !state.down : true;
    state.order = key;
    state.page = 0;
    show();
    const again = [...byId("table").querySelectorAll("thead button")].find((one) => one.textContent === text);
    again?.focus();
  };
  const button = make("button", { type: "button", title: hint, on: { click } }, text);
  return make("th", { scope: "col", "aria-sort": told, ...attributes }, button);
}

const count = (number) => number.toLocaleString("en");
const link = (number, ...content) => make("a", { href: `#row-${number}` }, ...content);

function matrix(lines) {
  const head = make("tr", {}, sortHead("Case", "name", "sort by name"),
    ...flows.map((flow) => sortHead(flow, `in ${flow}`, `sort by ${data.columns[state.figure][0]} in ${flow}`)));
  const body = lines.map(([name, cells]) => make("tr", {}, make("th", { scope: "row" }, name), ...flows.map((flow) => {
    const number = cells.get(flow);
    if (number === undefined) return make("td", {});
    const row = rows[number];
    // Without a figure that answers, how the job ended says more.
    const figure = row[ANSWERED] && row[TEXTS][state.figure];
    const text = figure || row[OUTCOME];
    const label = `${name} on ${flow}: ${row[WORD]} ${text}`;
    const cell = link(number, wordMark(row[WORD]), make("span", { class: figure ? null : "muted" }, text));
    cell.title = row[REASON];
    cell.setAttribute("aria-label", label);
    return make("td", {}, cell);
  })));
  return make("table", { class: "results matrix" }, make("thead", {}, head), make("tbody", {}, ...body));
}

// Columns that would be empty, or alike in every row, leave their room to the reasons.
function list(numbers) {
  const figures = data.columns.map((_, i) => i).filter((i) => rows.some((row) => row[TEXTS][i]));
  const reasons = numbers.some((number) => hasReason(rows[number]));
  const severalCases = names.length > 1;
  const head = make("tr", {}, sortHead("Verdict", "gravest", "gravest first"),
    severalCases ? sortHead("Case", "name", "sort by name") : "", sortHead("Flow", "flow", "sort by flow"),
    reasons ? make("th", { scope: "col" }, "Reason") : "",
    ...figures.map((i) => sortHead(data.columns[i][0], `figure${i}`, data.columns[i][1], { class: "right" })));
  const body = numbers.map((number) => {
    const row = rows[number];
    const why = hasReason(row) ? row[REASON] : "";
    const name = (text, first) => make("td", { class: "name" }, first ? link(number, text) : text);
    return make("tr", {}, make("td", { class: "verdict" }, wordMark(row[WORD])),
      severalCases ? name(row[CASE], true) : "", name(row[FLOW], !severalCases),
      reasons ? make("td", { class: "why" }, make("div", { class: "reason", title: why }, ...prose(why))) : "",
      ...figures.map((i) => make("td", { class: "right", "data-name": data.columns[i][0], "data-column": i }, row[TEXTS][i])));
  });
  return make("table", { class: "results list" }, make("thead", {}, head), make("tbody", {}, ...body));
}

// Edits between two words, of the whole of `a` in any place of `b`.
function edits(a, b) {
  let before = new Array(b.length + 1).fill(0);
  for (let i = 1; i <= a.length; i += 1) {
    const now = [i];
    for (let j = 1; j <= b.length; j += 1) {
      now[j] = Math.min(before[j] + 1, now[j - 1] + 1, before[j - 1] + (a[i - 1] !== b[j - 1]));
    }
    before = now;
  }
  return Math.min(...before);
}

function nothingFound() {
  const asked = state.text.toLowerCase().trim();
  const known = [...flows, ...names, ...severity.keys()].filter((word) => rows.some((row) => row.slice(0, 3).includes(word)));
  const ranked = known.map((word) => [edits(asked, word.toLowerCase()), word]).sort((a, b) => a[0] - b[0]);
  const near = asked ? ranked.filter(([far]) => far <= Math.max(1, asked.length / 3)).slice(0, 3).map(([, word]) => word) : [];
  return make("p", { class: "nothing" }, near.length ? `Nothing matches this filter. Near it: ${near.join(", ")}.` : "Nothing matches this filter.");
}

function show() {
  const found = filtered();
  const lines = state.view === "matrix" ? cases(found) : listed(found);
  // The order in which the drawer steps through the rows.
  order = state.view === "matrix" ? lines.flatMap(([, cells]) => flows.filter((f) => cells.has(f)).map((f) => cells.get(f))) : lines;
  const last = Math.max(0, Math.ceil(lines.length / PAGE) - 1);
  state.page = Math.min(state.page, last);
  const part = lines.slice(state.page * PAGE, (state.page + 1) * PAGE);
  byId("table").replaceChildren(part.length ? (state.view === "matrix" ? matrix(part) : list(part)) : nothingFound());
  byId("shown").textContent = found.length === rows.length
    ? `${count(rows.length)} row${rows.length === 1 ? "" : "s"}` : `${count(found.length)} of ${count(rows.length)} rows`;
  byId("previous").disabled = state.page === 0;
  byId("next").disabled = state.page === last;
  byId("previous").parentElement.hidden = last === 0;
  byId("page").textContent = `${count(state.page * PAGE + 1)} to ${count(state.page * PAGE + part.length)} of ${count(lines.length)}`;
  for (const view of ["matrix", "list"]) byId(`view-${view}`).setAttribute("aria-pressed", state.view === view);
  byId("figure-label").hidden = state.view !== "matrix";
  byId("order").value = ["planned", "gravest", "name"].includes(state.order) ? state.order : "column";
}
