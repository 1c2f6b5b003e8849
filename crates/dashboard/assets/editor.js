"use strict";
// Enhances the editor of pages: the preview follows what is typed, and widgets are arranged in place.
(() => {
  const doc = document, form = doc.getElementById("editor");
  const one = (query) => form.querySelector(query);
  const preview = form && one("[value=preview]");
  if (!preview) return;
  const address = preview.formAction;

  // A fresh frame replaces its first page, so that previews leave no entries in the history.
  const frame = () => {
    const old = doc.querySelector("iframe"), fresh = old.cloneNode();
    fresh.removeAttribute("src");
    old.replaceWith(fresh);
  };
  let timer, asking, shown = "";
  const unsaved = one("[data-unsaved]"), words = unsaved.textContent;
  const tell = (text) => {
    // Screen readers would repeat a text that is written again at each key.
    if (unsaved.textContent !== text) unsaved.textContent = text;
    unsaved.hidden = false;
  };
  const refresh = (event) => {
    tell(words);
    // The preview begins at the widget that is edited, or at the title.
    const item = event?.target.closest("[data-widget],form>.f");
    if (item) shown = item.querySelector("[name=widget]")?.value ?? "";
    if (item?.matches("[data-widget]")) rename(item);
    preview.formAction = `${address}#${shown}`;
    clearTimeout(timer);
    timer = setTimeout(() => { if (!navigator.onLine) return; frame(); form.requestSubmit(preview); judge(); }, 700);
  };
  const verdict = one("[data-verdict]");
  const judge = async () => {
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

  const status = one("[data-moved]");
  const items = () => [...form.querySelectorAll("[data-widget]")];
  const changed = (item) => {
    const all = items();
    const texts = [all.indexOf(item) + 1, all.length, item.querySelector("summary,b").textContent.trim()];
    status.textContent = status.dataset.moved.replace(/{(\d)}/g, (_, number) => texts[number - 1]);
    input(item);
  };
  // A widget is called by what it shows, as the server calls it.
  const names = ["title", "text", "alt", "network", "address", "number", "image_url", "url"];
  const rename = (item) => {
    const caption = item.querySelector("summary>bdi");
    if (!caption) return;
    const values = names.map((name) => item.querySelector(`[name$=".${name}"]`)?.value.trim());
    const [line] = (values.find(Boolean) ?? "").split("\n"), text = [...line].slice(0, 80).join("");
    item.querySelectorAll("[aria-label]").forEach((button) => {
      const label = button.getAttribute("aria-label");
      button.setAttribute("aria-label", label.slice(0, label.length - caption.textContent.length) + text);
    });
    caption.textContent = text;
  };
  const input = (target) => target.dispatchEvent(new Event("input", { bubbles: true }));
  // The server makes the widget that a button is about. A page of its own would be an entry in the history, and Back would lose what
  // was typed since. Where the answer is another page, such as a conflict or the end of the session, the browser asks for it again.
  let waits = false, next;
  const arrange = (button, isNew) => {
    const [, key] = button.value.split("-"), old = button.closest("[data-widget]");
    const sent = new FormData(form);
    sent.append("do", button.value);
    next = null;
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    // `fetch` reads no documents.
    request.responseType = "document";
    request.timeout = 15e3;
    request.onloadend = () => {
      waits = false;
      button.ariaDisabled = null;
      const { status, response: page } = request;
      if (!status) return tell(unsaved.dataset.away);
      const refused = status === 422 && page?.querySelector(".note.bad");
      if (refused) return tell(refused.textContent);
      const all = status === 200 && !page.querySelector("[name=conflict]") ? [...page.querySelectorAll("[data-widget]")] : [];
      const item = isNew ? all.at(-1) : all.find((item) => item.querySelector("[name=widget]").value === key);
      const current = item?.querySelector("[autofocus]");
      if (!current) return form.requestSubmit(button);
      // Chromium warns of the attribute where something has the focus.
      current.autofocus = false;
      const isElsewhere = doc.activeElement.matches("input,textarea,select") && !old?.contains(doc.activeElement);
      if (isNew) {
        one(".widgets>.hint")?.remove();
        one("ol").append(item);
        changed(item);
      } else {
        const details = item.querySelector("details");
        if (details) details.open = old.querySelector("details").open;
        old.replaceWith(item);
        input(item);
      }
      if (!isElsewhere) current.focus();
      if (next) form.requestSubmit(next);
    };
    request.send(new URLSearchParams(sent));
    waits = true;
    button.ariaDisabled = true;
  };
  // Keys that are typed while a new widget loads must not trigger shortcuts.
  form.addEventListener("keydown", (event) => { if (waits) event.stopPropagation(); });
  form.addEventListener("submit", (event) => {
    if (event.submitter?.formTarget) return;
    // Of two requests at a time, the browser would drop this one.
    clearTimeout(timer);
    next = waits && event.submitter;
    if (!waits && navigator.onLine) return;
    event.preventDefault();
    event.stopPropagation();
    if (!waits) tell(unsaved.dataset.away);
  });
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
      // A double click must not add two widgets, or restore what it removed.
      if (!waits && event.detail < 2) arrange(button, action === "add");
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
    dragged = !waits && target.draggable && target.matches?.("[data-widget]") ? target : null;
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
    if (dataTransfer.dropEffect === "none") dragged.parentNode.insertBefore(dragged, behind);
    else changed(dragged);
    dragged = null;
  });
})();
