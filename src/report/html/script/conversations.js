// Only one conversation is in the page; the others stay packed, or detached after they were shown.
const detached = new Map();
const makeFocusable = panel => find(".over-time", panel)?.setAttribute("tabindex", "0");
const showConversation = async key => {
  chooser.value = key;
  if (!detached.has(key) && find("#conversation").dataset.t !== key) {
    const next = createElement("div", "", { id: "conversation" });
    next.dataset.t = key;
    next.append(...(await unpackMarkup(find(`.panel[data-t="${CSS.escape(key)}"]`))).childNodes);
    makeFocusable(next);
    detached.set(key, next);
  }
  // The user may have chosen another conversation in the meantime.
  const current = find("#conversation");
  if (chooser.value !== key || current.dataset.t === key) return;
  detached.set(current.dataset.t, current);
  hideCursor();
  hideCall();
  current.replaceWith(detached.get(key));
  decorate(find("#conversation"));
  announce(chooser.selectedOptions[0].textContent);
};
const chooser = find("#choose");
if (chooser) {
  makeFocusable(find("#conversation"));
  chooser.value = find("#conversation").dataset.t;
  chooser.addEventListener("change", () => showConversation(chooser.value));
  const step = direction => showConversation(chooser.options[(chooser.selectedIndex + direction + chooser.length) % chooser.length].value);
  find("#before").addEventListener("click", () => step(-1));
  find("#after").addEventListener("click", () => step(1));
}
