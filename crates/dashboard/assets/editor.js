"use strict";
// Enhances the editor of pages: the preview follows what is typed, and widgets move without a request.
(() => {
  const form = document.getElementById("editor");
  const preview = form?.querySelector("[value=preview]");
  if (!preview) return;

  let timer;
  const refresh = () => {
    clearTimeout(timer);
    timer = setTimeout(() => form.requestSubmit(preview), 700);
  };
  const changed = () => form.dispatchEvent(new Event("input", { bubbles: true }));
  const verdict = form.querySelector("[data-verdict]");
  form.addEventListener("input", async ({ target }) => {
    refresh();
    if (!["accent_color", "theme"].includes(target.name)) return;
    const typed = new FormData(form);
    const query = new URLSearchParams(["accent_color", "theme"].map((name) => [name, typed.get(name)]));
    try {
      const answer = await fetch(`${verdict.dataset.verdict}?${query}`, { redirect: "error" });
      if (answer.ok) verdict.textContent = await answer.text();
    } catch { /* Saving says it too. */ }
  });

  form.addEventListener("click", (event) => {
    const button = event.target.closest("[value^=up-],[value^=down-]");
    if (!button) return;
    event.preventDefault();
    const item = button.closest("[data-widget]");
    const isUp = button.value.startsWith("up");
    const other = isUp ? item.previousElementSibling : item.nextElementSibling;
    if (!other) return;
    if (isUp) other.before(item);
    else other.after(item);
    button.focus();
    changed();
  });

  // Dragging. A widget can be dragged by its grip alone, so that texts can be selected.
  let dragged = null;
  const items = () => [...form.querySelectorAll("[data-widget]")];
  form.addEventListener("pointerdown", ({ target }) => {
    items().forEach((item) => { item.draggable = target.matches(".grip") && item.contains(target); });
  });
  form.addEventListener("dragstart", (event) => {
    dragged = event.target.closest("[data-widget]");
    dragged?.classList.add("dragged");
  });
  form.addEventListener("dragover", (event) => {
    const over = event.target.closest("[data-widget]");
    if (!dragged || !over) return;
    event.preventDefault();
    if (over === dragged) return;
    const { top, height } = over.getBoundingClientRect();
    if (event.clientY < top + height / 2) over.before(dragged);
    else over.after(dragged);
  });
  form.addEventListener("dragend", () => {
    dragged?.classList.remove("dragged");
    dragged = null;
    changed();
  });
})();
