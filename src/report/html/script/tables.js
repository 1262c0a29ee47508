// Tables: a cell's number is its exact value, else the number it shows.
const sizes = { KB: 1e3, MB: 1e6, GB: 1e9 };
const shown = cell => (cell ? cell.textContent.trim() : "");
const number = cell => {
  if (cell?.dataset.v) return Number(cell.dataset.v);
  const match = shown(cell).replace(/[,$+~]/g, "").replace("−", "-").match(/^(-?[\d.]+)(?: ([KMG]B))?/);
  return match ? Number(match[1]) * (sizes[match[2]] ?? 1) : NaN;
};
const sort = button => {
  const head = button.closest("th"), table = head.closest("table");
  const at = head.cellIndex + (head.parentElement.rowIndex > 0 ? 1 : 0);
  const isNumber = head.classList.contains("n");
  const descending = head.ariaSort ? head.ariaSort === "ascending" : isNumber;
  findAll("[aria-sort]", table).forEach(other => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const bodies = [...table.tBodies];
  const parts = bodies.length > 1 ? bodies : [...bodies[0].rows];
  const cell = part => (part.rows ? part.rows[0] : part).cells[at];
  const compare = (a, b) => {
    if (!isNumber) return shown(cell(a)).localeCompare(shown(cell(b))) * (descending ? -1 : 1);
    const [x, y] = [number(cell(a)), number(cell(b))];
    return Number.isNaN(x) - Number.isNaN(y) || (descending ? y - x : x - y) || 0;
  };
  const sorted = parts.sort(compare);
  (bodies.length > 1 ? table : bodies[0]).append(...sorted);
  announce(`Sorted by ${shown(button)}, ${descending ? "descending" : "ascending"}`);
};

// Saving: the file is made from the table.
const save = (name, type, text) => {
  const link = createElement("a", "", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};
const field = value => {
  const text = typeof value === "string" && /^[=+\-@＝＋－＠']/.test(value) && Number.isNaN(Number(value)) ? `'${value}` : String(value ?? "");
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const csv = rows => rows.map(row => row.map(field).join(",")).join("\n") + "\n";
// A table of policies has ids of columns and names of policies beside the words that it shows.
const tableCsv = table => {
  const names = [...[...table.tHead.rows].at(-1).cells].map(cell => cell.dataset.id ?? shown(cell));
  if (table.tHead.rows.length > 1) names.unshift("policy");
  const value = cell => cell.dataset.v ?? shown(cell);
  return csv([names, ...[...table.tBodies].flatMap(body => [...body.rows]).map(row => [...row.cells].map(value))]);
};
const copy = async button => {
  const code = find("code", button.parentElement);
  try {
    await navigator.clipboard.writeText(code.textContent + "\n");
  } catch {
    getSelection().selectAllChildren(code);
    document.execCommand("copy");
  }
  button.textContent = "Copied";
  announce("Copied");
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
};
