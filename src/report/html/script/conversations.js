// Only one conversation is in the page; the others stay packed until one of them is chosen, or detached after they were shown.
const detached = new Map();
let panels;
const allPanels = () => (panels ??= unpackMarkup(find("script.panels")));
const makeFocusable = panel => find(".over-time", panel)?.setAttribute("tabindex", "0");
const showConversation = async key => {
  chooser.value = key;
  if (!detached.has(key) && find("#conversation").dataset.t !== key) {
    const next = find(`[data-t="${CSS.escape(key)}"]`, await allPanels());
    // Another choice of the same conversation may have taken it.
    if (next) {
      next.id = "conversation";
      makeFocusable(next);
      detached.set(key, next);
    }
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
