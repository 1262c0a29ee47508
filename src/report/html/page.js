"use strict";
(() => {
  const root = document.documentElement;
  const find = (css, from = document) => from.querySelector(css);
  const findAll = (css, from = document) => [...from.querySelectorAll(css)];
  const createElement = (tag, text, more = {}) => Object.assign(document.createElement(tag), { textContent: text }, more);
  const announce = text => { find("#live").textContent = text; };
  const grouped = number => number.toLocaleString("en-US");
  root.classList.add("scripted");

  // Theme: follows the system until the user chooses.
  const system = matchMedia("(prefers-color-scheme: dark)");
  const theme = find("#theme");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const showTheme = () => theme.setAttribute("aria-pressed", String(isDark()));
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; showTheme(); });
  system.addEventListener("change", showTheme);
  showTheme();

  // Tooltip: a name and pairs of texts, near a position in the window.
  const tip = find("#tip");
  const hideTip = () => { tip.hidden = true; findAll(".near").forEach(dot => dot.classList.remove("near")); };
  const showTip = (x, y, name, pairs) => {
    const list = createElement("dl", "");
    for (const [term, text] of pairs) {
      const pair = [createElement("dt", ""), createElement("dd", "")];
      pair[0].append(createElement("bdi", term));
      pair[1].append(createElement("bdi", text));
      list.append(...pair);
    }
    const title = createElement("strong", "");
    title.append(createElement("bdi", name));
    tip.replaceChildren(title, list);
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = x + 16 + width > innerWidth - 8 ? x - 16 - width : x + 16;
    tip.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
    tip.style.top = `${Math.max(8, Math.min(y + 14, innerHeight - height - 8))}px`;
  };

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

  // Scatter plot: the nearest point counts, so that small ones can be hit; arrow keys move from left to right.
  const scatter = find(".scatter");
  if (scatter) {
    const dots = findAll(".dot", scatter).sort((a, b) => parseFloat(a.getAttribute("x")) - parseFloat(b.getAttribute("x")));
    const position = dot => {
      const box = scatter.getBoundingClientRect();
      const share = name => parseFloat(dot.getAttribute(name)) / 100;
      return [box.left + share("x") * box.width, box.top + share("y") * box.height];
    };
    const nearest = event => {
      let nearestDot = null, nearestDistance = 28;
      for (const dot of dots) {
        const [x, y] = position(dot);
        const distance = Math.hypot(x - event.clientX, y - event.clientY) + (dot.classList.contains("tried") ? 3 : 0);
        if (distance < nearestDistance) [nearestDot, nearestDistance] = [dot, distance];
      }
      return nearestDot;
    };
    const showDot = dot => {
      hideTip();
      dot.classList.add("near");
      const texts = dot.dataset.tip ? dot.dataset.tip.split("\n") : [];
      const pairs = texts.flatMap((term, index) => (index % 2 ? [] : [[term, texts[index + 1]]]));
      showTip(...position(dot), dot.dataset.name, pairs);
    };
    const toggle = dot => pin(dot.dataset.pin, dot.dataset.name);
    // The listeners are on the parent: on the SVG element itself they would add a keyboard stop.
    const box = scatter.parentElement;
    box.addEventListener("pointermove", event => { const dot = nearest(event); dot ? showDot(dot) : hideTip(); });
    box.addEventListener("pointerleave", hideTip);
    box.addEventListener("click", event => { const dot = nearest(event); if (dot) { showDot(dot); toggle(dot); } });
    box.addEventListener("focusin", event => showDot(event.target));
    box.addEventListener("focusout", hideTip);
    box.addEventListener("keydown", event => {
      const at = dots.indexOf(event.target);
      const steps = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, Home: 0, End: dots.length - 1 };
      if (event.key === "Enter" || event.key === " ") toggle(event.target);
      else if (event.key === "Escape") hideTip();
      else if (event.key in steps) {
        const next = dots[Math.max(0, Math.min(steps[event.key], dots.length - 1))];
        dots.forEach(dot => dot.setAttribute("tabindex", dot === next ? "0" : "-1"));
        next.focus();
      } else return;
      event.preventDefault();
    });
    dots.slice(0, 1).forEach(dot => dot.setAttribute("tabindex", "0"));
  }

  // Tokens per call: a cursor shows one step of all lines.
  const stepOf = (plot, share) => {
    const calls = Number(plot.dataset.calls), steps = Math.min(calls, 160);
    const call = Math.max(1, Math.min(calls, Math.round(1 + share * (Math.max(calls, 2) - 1))));
    let at = Math.min(steps - 1, Math.floor((call - 1) * steps / calls));
    while (Math.floor((at + 1) * calls / steps) < call) at += 1;
    return { at, steps, calls, first: Math.floor(at * calls / steps) + 1, last: Math.floor((at + 1) * calls / steps) };
  };
  const showStep = (plot, { at, calls, first, last }, y) => {
    const svg = find(".over-time", plot), box = svg.getBoundingClientRect();
    const share = ((first + last) / 2 - 1) / (Math.max(calls, 2) - 1);
    let cursor = find(".cursor", svg);
    if (!cursor) {
      cursor = document.createElementNS("http://www.w3.org/2000/svg", "line");
      cursor.setAttribute("class", "cursor");
      cursor.setAttribute("y2", "100%");
      svg.append(cursor);
    }
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, `${share * 100}%`);
    plot.dataset.at = at;
    const series = findAll(".series:not(.off)", svg).map(line => {
      const tokens = Number(line.dataset.tokens.split(" ")[at]);
      const event = line.dataset.events.split(" ").map(part => part.split(":")).find(part => part[0] === String(at));
      const layers = line.dataset.layers.split("\n"), by = event ? event[3].split(",").map(layer => layers[layer]).join(", ") : "";
      const edits = event ? ` (${by}: ${event[1]} edit${event[1] > 1 ? "s" : ""}, ${grouped(-event[2]).replace("-", "−")})` : "";
      return { tokens, pair: [line.dataset.name, grouped(tokens) + edits] };
    });
    const pairs = series.filter(line => !Number.isNaN(line.tokens)).sort((a, b) => b.tokens - a.tokens).map(line => line.pair);
    const name = first === last ? `Call ${first}` : `Calls ${first} to ${last}: the largest request`;
    showTip(box.left + share * box.width, y ?? box.top, name, pairs);
    return `${name}. ${pairs.map(pair => pair.join(" ")).join(", ")}`;
  };
  const hideCursor = () => { hideTip(); findAll(".cursor").forEach(line => line.remove()); };
  const conversations = find("#conversations");
  const plotAt = event => event.target.closest(".plot.calls");
  conversations?.addEventListener("pointermove", event => {
    const plot = plotAt(event);
    if (!plot) return hideCursor();
    const box = find(".over-time", plot).getBoundingClientRect();
    showStep(plot, stepOf(plot, (event.clientX - box.left) / box.width), event.clientY);
  });
  conversations?.addEventListener("pointerleave", hideCursor);
  conversations?.addEventListener("focusout", hideCursor);
  conversations?.addEventListener("keydown", event => {
    const plot = plotAt(event), direction = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!plot || !direction) return;
    const calls = Number(plot.dataset.calls), steps = Math.min(calls, 160);
    const at = Math.max(0, Math.min(steps - 1, Number(plot.dataset.at ?? -1) + direction));
    announce(showStep(plot, { at, calls, first: Math.floor(at * calls / steps) + 1, last: Math.floor((at + 1) * calls / steps) }));
    event.preventDefault();
  });

  // Packed texts are gzip in Base64.
  const unpack = script => {
    const bytes = Uint8Array.from(atob(script.textContent), letter => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };

  // Only one conversation is in the page; the others stay packed, or detached after they were shown.
  const detached = new Map();
  const makeFocusable = panel => find(".over-time", panel)?.setAttribute("tabindex", "0");
  const showConversation = async key => {
    chooser.value = key;
    if (!detached.has(key) && find("#conversation").dataset.t !== key) {
      const next = createElement("div", "", { id: "conversation" });
      next.dataset.t = key;
      const markup = await unpack(find(`.panel[data-t="${CSS.escape(key)}"]`));
      next.append(...new DOMParser().parseFromString(markup, "text/html").body.childNodes);
      makeFocusable(next);
      detached.set(key, next);
    }
    // The user may have chosen another conversation in the meantime.
    const current = find("#conversation");
    if (chooser.value !== key || current.dataset.t === key) return;
    detached.set(current.dataset.t, current);
    hideCursor();
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

  // Saving: all files are made from the data in this page.
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
  const tableCsv = table => {
    const head = [...table.tHead.rows].at(-1), group = table.tHead.rows.length > 1;
    const names = [...head.cells].map(shown);
    if (group) {
      const groups = [...table.tHead.rows[0].cells].slice(1).flatMap(cell => Array(cell.colSpan).fill(shown(cell)));
      names.forEach((name, at) => { names[at] = `${groups[at]}.${name}`; });
      names.unshift("policy");
    }
    const value = cell => cell.dataset.v ?? shown(cell);
    return csv([names, ...[...table.tBodies].flatMap(body => [...body.rows]).map(row => [...row.cells].map(value))]);
  };
  const allRows = text => {
    const results = JSON.parse(text), ids = results.columns.map(column => column.id);
    const cells = row => [row.transcript, row.conversation, row.policy, ...ids.map(id => row.values[id])];
    return csv([["transcript", "conversation", "policy", ...ids], ...results.rows.map(cells)]);
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

  document.addEventListener("click", event => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.classList.contains("sort")) sort(button);
    else if (button.classList.contains("pin")) pin(button.dataset.pin, button.dataset.name);
    else if (button.classList.contains("copy")) copy(button);
    else if (button.classList.contains("csv")) save("table.csv", "text/csv", tableCsv(find("table", button.parentElement)));
    else if (button.id === "save-json") unpack(find("#data")).then(text => save("results.json", "application/json", text));
    else if (button.id === "save-csv") unpack(find("#data")).then(text => save("rows.csv", "text/csv", allRows(text)));
    else if (button.classList.contains("group")) {
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
})();
