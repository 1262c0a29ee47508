// What buttons do, wherever they are.
document.addEventListener("click", event => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.classList.contains("sort")) sort(button);
  else if (button.classList.contains("pin")) pin(button.dataset.pin, button.dataset.name);
  else if (button.classList.contains("go")) goTo(button.dataset);
  else if (button.classList.contains("copy")) copy(button);
  else if (button.classList.contains("csv")) save("table.csv", "text/csv", tableCsv(find("table", button.parentElement)));
  else if (button.classList.contains("group") && button.dataset.g) {
    const hidden = find("#comparison").classList.toggle(`hide-${button.dataset.g}`);
    button.setAttribute("aria-pressed", String(!hidden));
  } else if (button.classList.contains("key")) {
    const line = button.dataset.k, figure = button.closest("figure");
    const off = button.getAttribute("aria-pressed") === "true";
    button.setAttribute("aria-pressed", String(!off));
    if (figure) return findAll(`[data-line="${line}"]`, figure).forEach(element => element.classList.toggle("off", off));
    off ? hiddenLines.add(line) : hiddenLines.delete(line);
    decorate(find("#conversation"));
  }
});
document.addEventListener("keydown", event => { if (event.key === "Escape") hideCursor(); });
decorate(document);
