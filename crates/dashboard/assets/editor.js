"use strict";
// Enhances the editor of pages: the preview follows what is typed, and widgets are arranged in place.
(() => {
  const doc = document, form = doc.getElementById("editor");
  const one = (query) => form.querySelector(query);
  const preview = () => one("[value=preview]");
  if (!form || !preview()) return;
  const address = preview().formAction;

  // A fresh frame replaces its first page, so that previews leave no entries in the history.
  const frame = () => {
    const old = doc.querySelector("iframe"), fresh = old.cloneNode();
    fresh.removeAttribute("src");
    old.replaceWith(fresh);
  };
  let timer, asking, shown = "";
  const refresh = (event) => {
    one("[data-unsaved]").hidden = false;
    // The preview begins at the widget that is edited, or at the title.
    const item = event?.target.closest("[data-widget],form>.f");
    if (item) shown = item.querySelector("[name=widget]")?.value ?? "";
    preview().formAction = `${address}#${shown}`;
    clearTimeout(timer);
    timer = setTimeout(() => { frame(); form.requestSubmit(preview()); judge(); }, 700);
  };
  const judge = async () => {
    const verdict = one("[data-verdict]");
    asking?.abort();
    asking = new AbortController();
    const typed = new FormData(form), accent = form.elements.accent_color;
    // A refused colour has its message already.
    if (accent.matches("[aria-invalid]") && accent.value === accent.defaultValue) return verdict.replaceChildren();
    const query = new URLSearchParams(["accent_color", "theme"].map((name) => [name, typed.get(name)]));
    try {
      const answer = await fetch(`${verdict.dataset.verdict}?${query}`, { redirect: "error", signal: asking.signal });
      const text = answer.ok ? await answer.text() : verdict.textContent;
      if (text !== verdict.textContent) verdict.textContent = text;
    } catch { /* Saving says it too. */ }
  };
  form.addEventListener("input", refresh);
  // The page shows what is not stored.
  if (form.matches("[data-dirty]")) refresh();

  const items = () => [...form.querySelectorAll("[data-widget]")];
  const changed = (item) => {
    const all = items();
    const status = one("[data-moved]");
    const texts = [all.indexOf(item) + 1, all.length, item.querySelector("summary,b").textContent.trim()];
    status.textContent = status.dataset.moved.replace(/{(\d)}/g, (_, number) => texts[number - 1]);
    input(item);
  };
  const input = (target) => target.dispatchEvent(new Event("input", { bubbles: true }));
  // The answer to a button becomes the form of this page. A page of its own would be an entry in the history, and Back would lose
  // what was typed since. Any other answer is such a page: a conflict, or the end of the session. `fetch` reads no documents.
  const arrange = (button) => {
    const open = items().map((item) => item.querySelector("details")?.open);
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.responseType = "document";
    request.onloadend = () => {
      form.inert = false;
      const page = request.status === 200 && request.response;
      const fresh = page && !page.querySelector("[name=conflict]") && page.getElementById("editor");
      if (!fresh) return form.requestSubmit(button);
      const current = fresh.querySelector("[autofocus]") ?? form;
      // Chromium warns of the attribute where something has the focus.
      current.autofocus = false;
      form.replaceChildren(...fresh.childNodes);
      doc.querySelector(".note.bad")?.remove();
      items().forEach((item, place) => { if (open[place]) item.querySelector("details").open = true; });
      current.focus();
      input(current);
    };
    request.send(new URLSearchParams(new FormData(form, button)));
    form.inert = true;
  };
  form.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    const [action] = button?.value.split("-") ?? [];
    // On narrow screens the frame is far below the button.
    if (action === "preview") {
      const it = doc.querySelector("iframe");
      if (it.getBoundingClientRect().top > innerHeight / 2) it.scrollIntoView();
    }
    if (["add", "remove", "restore"].includes(action)) {
      event.preventDefault();
      arrange(button);
    }
    const isUp = action === "up";
    if (!isUp && action !== "down") return;
    event.preventDefault();
    const item = button.closest("[data-widget]");
    const other = isUp ? item.previousElementSibling : item.nextElementSibling;
    if (!other) return;
    if (isUp) other.before(item);
    else other.after(item);
    button.focus();
    changed(item);
  });

  // Dragging. A widget can be dragged by its grip alone, so that texts can be selected and dragged.
  let dragged = null, behind;
  form.addEventListener("pointerdown", ({ target }) => {
    items().forEach((item) => { item.draggable = target.matches(".grip") && item.contains(target); });
  });
  form.addEventListener("dragstart", ({ target }) => {
    dragged = target.draggable && target.matches?.("[data-widget]") ? target : null;
    behind = dragged?.nextSibling;
    dragged?.classList.add("dragged");
  });
  form.addEventListener("dragover", (event) => {
    if (!dragged) return;
    // A widget can be let go everywhere in the form.
    event.preventDefault();
    const over = event.target.closest?.("[data-widget]");
    if (!over || over === dragged) return;
    const { top, height } = over.getBoundingClientRect();
    if (event.clientY < top + height / 2) over.before(dragged);
    else over.after(dragged);
  });
  form.addEventListener("drop", (event) => { if (dragged) event.preventDefault(); });
  form.addEventListener("dragend", ({ dataTransfer }) => {
    if (!dragged) return;
    dragged.classList.remove("dragged");
    // Escape, or a place outside of the form.
    if (dataTransfer.dropEffect === "none") behind.before(dragged);
    else changed(dragged);
    dragged = null;
  });
})();
