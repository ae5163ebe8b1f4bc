// Buttons, keys and the address.
function remembered(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}

function theme() {
  const button = byId("theme");
  const names = ["auto", "light", "dark"];
  const set = (name) => {
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    button.textContent = `Theme: ${name}`;
    button.dataset.name = name;
  };
  const saved = remembered("assay-theme");
  set(names.includes(saved) ? saved : "auto");
  button.hidden = false;
  button.addEventListener("click", () => {
    const name = names[(names.indexOf(button.dataset.name) + 1) % names.length];
    set(name);
    try { localStorage.setItem("assay-theme", name); } catch { /* private mode: it lasts as long as the page */ }
  });
}

const dialog = byId("detail");

function goTo(number) {
  history.replaceState(null, "", number === null ? location.pathname + location.search : `#row-${number}`);
  open();
}

async function open() {
  const match = /^#row-(\d+)$/.exec(location.hash);
  const number = match ? Number(match[1]) : -1;
  if (!match || number >= rows.length) {
    if (dialog.open) dialog.close();
    return;
  }
  const row = await detailOf(number, data.rowsPerBlock);
  // A faster hand may have moved on while this block was inflated.
  if (location.hash !== `#row-${number}`) return;
  const at = order.indexOf(number);
  const to = (place) => (at >= 0 && order[place] !== undefined ? () => goTo(order[place]) : null);
  const place = at >= 0 ? `${at + 1} of ${order.length}` : "";
  const focused = dialog.contains(document.activeElement) ? document.activeElement.textContent : "";
  dialog.replaceChildren(...detailView(row, place, { previous: to(at - 1), next: to(at + 1), close: () => dialog.close() }));
  dialog.scrollTop = 0;
  if (!dialog.open) dialog.showModal();
  else [...dialog.querySelectorAll(".detail-bar button")].find((one) => one.textContent === focused)?.focus();
}

function tools() {
  for (const [i, [name]] of data.columns.entries()) byId("figure").append(make("option", { value: i }, name));
  const onFirstPage = (change) => (event) => { change(event.target); state.page = 0; show(); };
  byId("figure").value = state.figure;
  byId("filter").addEventListener("input", onFirstPage((input) => { state.text = input.value; }));
  byId("figure").addEventListener("change", onFirstPage((select) => { state.figure = Number(select.value); }));
  byId("order").addEventListener("change", onFirstPage((select) => { state.order = select.value; state.down = true; }));
  for (const view of ["matrix", "list"]) {
    byId(`view-${view}`).addEventListener("click", onFirstPage(() => { state.view = view; state.order = "planned"; }));
  }
  for (const [id, step] of [["previous", -1], ["next", 1]]) {
    byId(id).addEventListener("click", () => { state.page += step; show(); byId("results").scrollIntoView(); });
  }
  for (const chip of document.querySelectorAll(".chip")) {
    chip.addEventListener("click", onFirstPage(() => {
      const on = !state.words.delete(chip.dataset.word);
      if (on) state.words.add(chip.dataset.word);
      chip.setAttribute("aria-pressed", on);
    }));
  }
}

function keys(event) {
  if (event.target.matches?.("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/" && !dialog.open) { event.preventDefault(); byId("filter").focus(); }
  const name = { j: "Next", k: "Previous" }[event.key];
  if (name && dialog.open) [...dialog.querySelectorAll(".detail-bar button")].find((one) => one.textContent === name)?.click();
}

theme();
for (const button of document.querySelectorAll("[data-copy]")) {
  const code = byId(button.dataset.copy);
  const text = code.textContent;
  code.replaceChildren(...tokens(text));
  button.hidden = false;
  button.addEventListener("click", () => copy(text, button));
}
if (rows.length) {
  tools();
  show();
  addEventListener("hashchange", open);
  addEventListener("keydown", keys);
  dialog.addEventListener("close", () => { if (location.hash.startsWith("#row-")) goTo(null); });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  open();
}
