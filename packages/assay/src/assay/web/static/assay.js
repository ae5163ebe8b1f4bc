// Remembers the theme and copies repro lines. Everything works without it.
(() => {
  "use strict";

  const NAMES = ["auto", "light", "dark"];
  const button = document.getElementById("theme");
  const use = (name) => {
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    button.textContent = `Theme: ${name}`;
  };
  let name = "auto";
  try { name = localStorage.getItem("assay-theme") ?? "auto"; } catch { /* private mode */ }
  if (!NAMES.includes(name)) name = "auto";
  use(name);
  button.hidden = false;
  button.addEventListener("click", () => {
    name = NAMES[(NAMES.indexOf(name) + 1) % NAMES.length];
    use(name);
    try { localStorage.setItem("assay-theme", name); } catch { /* it lasts as long as the page */ }
  });

  for (const copy of document.querySelectorAll(".copy")) {
    copy.hidden = false;
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(copy.previousElementSibling.textContent);
      copy.textContent = "Copied";
    });
  }
})();
