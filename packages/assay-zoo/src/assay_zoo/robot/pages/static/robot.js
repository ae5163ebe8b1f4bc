// Keeps a page that is looked at up to date, and remembers the theme. Everything works without it, by hand.
(() => {
  "use strict";

  const NAMES = ["auto", "light", "dark"];

  function theme() {
    const button = document.getElementById("theme");
    if (!button) return;
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
  }

  // Somebody reads with the keyboard or marks text: the page keeps still until that is over.
  function busy(main) {
    const active = document.activeElement;
    return !(getSelection()?.isCollapsed ?? true) || (active && active !== main && main.contains(active));
  }

  const opened = (root) => [...root.querySelectorAll("details")].map((one) => one.open);

  async function refresh() {
    const main = document.getElementById("main");
    if (document.hidden || busy(main)) return;
    let answer;
    try { answer = await fetch(location.href, { cache: "no-cache" }); } catch { return; /* the robot starts again */ }
    if (!answer.ok) return;
    // Parsed text runs no script, and the policy of this page would not let it.
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const put = fresh.getElementById("main");
    if (!put || busy(main)) return;
    const open = opened(main);
    put.querySelectorAll("details").forEach((one, at) => { one.open = open[at] ?? false; });
    main.replaceChildren(...put.childNodes);
    document.title = fresh.title;
    if (put.dataset.live) main.dataset.live = put.dataset.live;
    else delete main.dataset.live;
  }

  async function live() {
    const main = document.getElementById("main");
    while (main?.dataset.live) {
      await new Promise((done) => { setTimeout(done, Number(main.dataset.live) * 1000); });
      await refresh();
    }
  }

  theme();
  live();
})();
