// Pinned policies are highlighted wherever they are drawn or named.
const pinned = new Map();
const hiddenLines = new Set();
const decorate = from => {
  findAll("[data-p]", from).forEach(element => element.classList.toggle("pinned", pinned.has(element.dataset.p)));
  findAll("[data-pin]", from).forEach(element => element.setAttribute("aria-pressed", String(pinned.has(element.dataset.pin))));
  findAll("[data-line]", from).forEach(element => element.classList.toggle("off", element.closest("#conversations") !== null && hiddenLines.has(element.dataset.line)));
  findAll(".sheet:not(.dressed):has(table)", from).forEach(sheet => {
    sheet.classList.add("dressed");
    sheet.append(createElement("button", "CSV", { type: "button", className: "csv", ariaLabel: "Save this table as CSV" }));
  });
};
const pin = (policy, name) => {
  if (!pinned.delete(policy)) pinned.set(policy, name);
  const chip = ([policy, name]) => {
    const button = createElement("button", "", { type: "button", ariaLabel: `Unpin ${name}` });
    button.append(createElement("bdi", name), " ×");
    button.addEventListener("click", () => pin(policy, name));
    return button;
  };
  find("#pins").replaceChildren(...[...pinned].map(chip));
  find("#pins").hidden = pinned.size === 0;
  root.classList.toggle("has-pins", pinned.size > 0);
  announce(`${name} ${pinned.has(policy) ? "pinned" : "unpinned"}, ${pinned.size} pinned`);
  decorate(document);
};
