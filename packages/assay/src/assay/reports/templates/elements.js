// Building the page: text only ever enters as text.
const byId = (id) => document.getElementById(id);

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null) continue;
    if (key === "on") for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

// What stands in backticks is to be copied: it is set as code.
const prose = (text) => text.split(/`([^`]+)`/).map((part, i) => (i % 2 ? make("code", {}, part) : part));

const className = (word) => "w-" + word.replaceAll(" ", "-");
const wordMark = (word) => make("span", { class: `word ${className(word)}` }, word);

function pairs(list) {
  return make("dl", {}, ...list.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

function table(heads, rows, rightFrom = heads.length) {
  const side = (column) => ({ class: column >= rightFrom ? "right" : null });
  const head = make("tr", {}, ...heads.map((text, i) => make("th", { scope: "col", ...side(i) }, text)));
  const body = rows.map((row) => make("tr", {}, ...row.map((text, i) => make("td", side(i), text))));
  const inner = make("table", {}, make("thead", {}, head), make("tbody", {}, ...body));
  return make("div", { class: "scroll" }, inner);
}

// A line of shell breaks between words, not after the hyphens of an option.
function tokens(text) {
  return text.split(" ").flatMap((word, i) => [i ? " " : "", make("span", { class: "token" }, word)]);
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // No clipboard API on file:// in some browsers.
    const area = make("textarea", { class: "visually-hidden" });
    area.value = text;
    button.after(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

function copyable(text) {
  const button = make("button", { type: "button", class: "copy", on: { click: () => copy(text, button) } }, "Copy");
  return make("div", { class: "line repro" }, make("code", {}, ...tokens(text)), button);
}
