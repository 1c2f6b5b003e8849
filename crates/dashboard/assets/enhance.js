"use strict";
// Enhances pages that work without it.
(() => {
  const doc = document, body = doc.body;
  const all = (query, from = doc) => [...from.querySelectorAll(query)];
  const one = (query, from = doc) => from.querySelector(query);
  const on = (type, act) => doc.addEventListener(type, act);

  // Says a text to assistive technology.
  const live = doc.createElement("p");
  live.className = "vh";
  live.ariaLive = "polite";
  body.append(live);
  const say = (text) => { live.textContent = ""; setTimeout(() => { live.textContent = text; }, 50); };

  // Copying. Outside secure contexts browsers have no clipboard.
  const copy = async (text) => {
    try {
      return await navigator.clipboard.writeText(text);
    } catch {}
    // The old way.
    const area = doc.createElement("textarea");
    area.value = text;
    area.className = "vh";
    body.append(area);
    area.select();
    doc.execCommand("copy");
    area.remove();
  };
  const copyFrom = async (button) => {
    await copy(button.dataset.copy ?? button.previousElementSibling.href);
    const label = button.matches(".copy") ? null : button.textContent;
    button.classList.add("done");
    if (label) button.textContent = body.dataset.copied;
    button.focus();
    say(body.dataset.copied);
    setTimeout(() => {
      button.classList.remove("done");
      if (label) button.textContent = label;
    }, 1600);
  };

  // Dialogs that ask. What they send counts only while they are open.
  const open = (id) => {
    const dialog = doc.getElementById(id);
    const inputs = all("input", dialog);
    inputs.forEach((input) => { input.disabled = false; });
    dialog.onclose = () => inputs.forEach((input) => { input.disabled = true; });
    dialog.showModal();
  };

  const boxes = () => all('[name=ids]');
  const allBox = one("[data-all]");
  const countBoxes = () => {
    const set = all("[name=ids]:checked").length;
    allBox.checked = set && set === boxes().length;
    allBox.indeterminate = set && !allBox.checked;
  };
  if (allBox) countBoxes();

  const shut = ({ target }) => {
    const inside = target.closest("details");
    all(":is(.menu,.edit)[open]").forEach((menu) => { menu.open = menu === inside; });
  };
  on("click", (event) => {
    const button = event.target.closest("button");
    if (button?.matches(".copy,[data-copy]")) copyFrom(button);
    else if (button?.dataset.open) open(button.dataset.open);
    else if (button?.dataset.ask) { event.preventDefault(); open(button.dataset.ask); }
    else if (button?.matches("[data-close]")) button.closest("dialog").close();
    shut(event);
  });
  // An open menu covers what the Tab key reaches after it.
  on("keyup", (event) => { if (event.key === "Tab") shut(event); });

  // Forms: sent once, and not left by accident.
  let dirty = Boolean(one("[data-dirty]"));
  on("input", (event) => { if (event.target.closest("[data-guard]")) dirty = true; });
  on("change", (event) => {
    const { target } = event;
    if (target === allBox) boxes().forEach((box) => { box.checked = allBox.checked; });
    if (allBox) countBoxes();
    if (target.name === "theme" && target.form.action.endsWith("/me")) doc.documentElement.dataset.theme = target.value;
    if (target.name === "all_scopes") scopes();
  });
  on("submit", (event) => {
    const form = event.target;
    // A preview saves nothing.
    if (event.submitter?.formTarget) return;
    if (form.matches("[data-once]")) {
      if (form.dataset.sent) return event.preventDefault();
      form.dataset.sent = "yes";
      event.submitter?.setAttribute("aria-disabled", "true");
    }
    if (form.matches("[data-guard]")) dirty = false;
  });
  const again = () => {
    all("[data-sent]").forEach((form) => { delete form.dataset.sent; });
    all("[aria-disabled]").forEach((button) => { button.ariaDisabled = null; });
  };
  addEventListener("pageshow", again);
  // After "Stay" the form can be sent.
  addEventListener("beforeunload", (event) => { if (dirty) { event.preventDefault(); again(); } });

  const zone = one("[data-zone]");
  if (zone) {
    const mine = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (one(`[value="${mine}"]`, zone)) zone.value = mine;
  }
  const everything = one("[name=all_scopes]");
  const scopes = () => { one("#f-scopes").hidden = everything.checked; };
  if (everything) scopes();
  one("[data-focus]")?.focus();
  // What was done is said once, not at each reload.
  const here = new URL(location);
  if (here.searchParams.has("said")) { here.searchParams.delete("said"); history.replaceState(null, "", here); }
  if (location.hash === "#edit") one("#edit :is(input,select):not([type=hidden])")?.focus();

  // Figures that are read anew while somebody looks at them.
  const figures = one("[data-live]");
  let pause = 5e3, fails;
  const refresh = async () => {
    if (!doc.hidden) {
      try {
        const answer = await fetch(figures.dataset.live, { redirect: "error" });
        fails = !answer.ok;
        if (!fails) figures.textContent = await answer.text();
      } catch {
        // Signed out, or no network.
        fails = true;
      }
      figures.classList.toggle("old", fails);
      pause = fails ? pause * 2 : 5e3;
    } else pause = 5e3;
    setTimeout(refresh, Math.min(pause, 3e5));
  };
  if (figures) setTimeout(refresh, 5e3);

  // The Tab key stops at a chart once; arrow keys lead from bar to bar.
  const bars = all(".plot rect");
  bars.forEach((bar, place) => { bar.tabIndex = place && -1; });

  // Keyboard shortcuts.
  const base = body.dataset.keys;
  let at = -1, before = "";
  const rows = all(".rows.links li");
  const move = (step) => {
    if (!rows.length) return;
    rows[at]?.classList.remove("at");
    at = Math.max(0, Math.min(rows.length - 1, at + step));
    rows[at].classList.add("at");
    one(".name", rows[at]).focus();
  };
  const row = () => doc.activeElement.closest(".rows.links li") ?? rows[at];
  const actions = {
    "/": () => one('[data-key="/"]')?.focus(),
    "?": () => open("keys"),
    c: () => { const it = one("[data-key=c]"); it?.[it.href ? "click" : "focus"](); },
    j: () => move(1),
    k: () => move(-1),
    x: () => row()?.querySelector("[name=ids]")?.click(),
    e: () => { const it = row(); if (it) location.href = `${one(".name", it).href}#edit`; },
  };
  const places = { d: "domains", l: "links", g: "groups", k: "keys", s: "analytics", u: "usage" };
  on("keydown", (event) => {
    const { key, target } = event;
    if (key === "Escape") {
      const menu = target.closest(":is(.menu,.edit)[open]");
      if (menu) { menu.open = false; one("summary", menu).focus(); }
    }
    const plain = !(event.ctrlKey || event.metaKey || event.altKey);
    const bar = plain && bars.includes(target) && bars[bars.indexOf(target) + { ArrowLeft: -1, ArrowRight: 1 }[key]];
    if (bar) { event.preventDefault(); target.tabIndex = -1; bar.tabIndex = 0; bar.focus(); }
    const typing = target.matches("input:not([type=checkbox],[type=radio]),select,textarea");
    if (base === undefined || typing || !plain || one("dialog[open]")) return;
    if (before === "g" && places[key]) { before = ""; if (base) location.href = `${base}/${places[key]}`; return; }
    before = key;
    if (Object.hasOwn(actions, key)) { event.preventDefault(); actions[key](); }
  });
})();
