"use strict";
(() => {
  const root = document.documentElement;
  const one = (css, from = document) => from.querySelector(css);
  const all = (css, from = document) => [...from.querySelectorAll(css)];
  const make = (tag, text, more = {}) => Object.assign(document.createElement(tag), { textContent: text }, more);
  const say = text => { one("#live").textContent = text; };
  const grouped = number => number.toLocaleString("en-US");
  root.classList.add("scripted");

  // Light and dark: as the system says, until someone chooses.
  const system = matchMedia("(prefers-color-scheme: dark)");
  const theme = one("#theme");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const showTheme = () => theme.setAttribute("aria-pressed", String(isDark()));
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; showTheme(); });
  system.addEventListener("change", showTheme);
  showTheme();

  // The tooltip: a name and pairs of texts, beside a place of the window.
  const tip = one("#tip");
  const hideTip = () => { tip.hidden = true; all(".near").forEach(dot => dot.classList.remove("near")); };
  const showTip = (x, y, name, pairs) => {
    const list = make("dl", "");
    for (const [term, told] of pairs) {
      const pair = [make("dt", ""), make("dd", "")];
      pair[0].append(make("bdi", term));
      pair[1].append(make("bdi", told));
      list.append(...pair);
    }
    const title = make("strong", "");
    title.append(make("bdi", name));
    tip.replaceChildren(title, list);
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = x + 16 + width > innerWidth - 8 ? x - 16 - width : x + 16;
    tip.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
    tip.style.top = `${Math.max(8, Math.min(y + 14, innerHeight - height - 8))}px`;
  };

  // Pinned policies stand out wherever they are drawn or named.
  const pinned = new Map();
  const lines = new Set();
  const dress = from => {
    all("[data-p]", from).forEach(of => of.classList.toggle("pinned", pinned.has(of.dataset.p)));
    all("[data-pin]", from).forEach(of => of.setAttribute("aria-pressed", String(pinned.has(of.dataset.pin))));
    all("[data-line]", from).forEach(of => of.classList.toggle("off", of.closest("#conversations") !== null && lines.has(of.dataset.line)));
    all(".sheet:not(.dressed):has(table)", from).forEach(sheet => {
      sheet.classList.add("dressed");
      sheet.append(make("button", "CSV", { type: "button", className: "csv", ariaLabel: "Save this table as CSV" }));
    });
  };
  const pin = (place, name) => {
    if (!pinned.delete(place)) pinned.set(place, name);
    const chip = ([place, name]) => {
      const button = make("button", "", { type: "button", ariaLabel: `Unpin ${name}` });
      button.append(make("bdi", name), " ×");
      button.addEventListener("click", () => pin(place, name));
      return button;
    };
    one("#pins").replaceChildren(...[...pinned].map(chip));
    one("#pins").hidden = pinned.size === 0;
    root.classList.toggle("has-pins", pinned.size > 0);
    say(`${name} ${pinned.has(place) ? "pinned" : "unpinned"}, ${pinned.size} pinned`);
    dress(document);
  };

  // The front: the nearest point counts, so that small ones can be hit; arrows go from left to right.
  const scatter = one(".scatter");
  if (scatter) {
    const dots = all(".dot", scatter).sort((a, b) => parseFloat(a.getAttribute("x")) - parseFloat(b.getAttribute("x")));
    const place = dot => {
      const box = scatter.getBoundingClientRect();
      const at = name => parseFloat(dot.getAttribute(name)) / 100;
      return [box.left + at("x") * box.width, box.top + at("y") * box.height];
    };
    const nearest = event => {
      let best = null, least = 28;
      for (const dot of dots) {
        const [x, y] = place(dot);
        const far = Math.hypot(x - event.clientX, y - event.clientY) + (dot.classList.contains("tried") ? 3 : 0);
        if (far < least) [best, least] = [dot, far];
      }
      return best;
    };
    const tell = dot => {
      hideTip();
      dot.classList.add("near");
      const told = dot.dataset.tip ? dot.dataset.tip.split("\n") : [];
      const pairs = told.flatMap((term, at) => (at % 2 ? [] : [[term, told[at + 1]]]));
      showTip(...place(dot), dot.dataset.name, pairs);
    };
    const toggle = dot => pin(dot.dataset.pin, dot.dataset.name);
    // Not the drawing itself, which its listeners would make a stop of the keyboard.
    const box = scatter.parentElement;
    box.addEventListener("pointermove", event => { const dot = nearest(event); dot ? tell(dot) : hideTip(); });
    box.addEventListener("pointerleave", hideTip);
    box.addEventListener("click", event => { const dot = nearest(event); if (dot) { tell(dot); toggle(dot); } });
    box.addEventListener("focusin", event => tell(event.target));
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

  // Tokens per call: a cursor over one step of all lines.
  const stepOf = (plot, share) => {
    const calls = Number(plot.dataset.calls), steps = Math.min(calls, 160);
    const call = Math.max(1, Math.min(calls, Math.round(1 + share * (Math.max(calls, 2) - 1))));
    let at = Math.min(steps - 1, Math.floor((call - 1) * steps / calls));
    while (Math.floor((at + 1) * calls / steps) < call) at += 1;
    return { at, steps, calls, first: Math.floor(at * calls / steps) + 1, last: Math.floor((at + 1) * calls / steps) };
  };
  const tellStep = (plot, { at, calls, first, last }, y) => {
    const svg = one(".over-time", plot), box = svg.getBoundingClientRect();
    const share = ((first + last) / 2 - 1) / (Math.max(calls, 2) - 1);
    let cursor = one(".cursor", svg);
    if (!cursor) {
      cursor = document.createElementNS("http://www.w3.org/2000/svg", "line");
      cursor.setAttribute("class", "cursor");
      cursor.setAttribute("y2", "100%");
      svg.append(cursor);
    }
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, `${share * 100}%`);
    plot.dataset.at = at;
    const series = all(".series:not(.off)", svg).map(line => {
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
  const leave = () => { hideTip(); all(".cursor").forEach(line => line.remove()); };
  const conversations = one("#conversations");
  const plotAt = event => event.target.closest(".plot.calls");
  conversations?.addEventListener("pointermove", event => {
    const plot = plotAt(event);
    if (!plot) return leave();
    const box = one(".over-time", plot).getBoundingClientRect();
    tellStep(plot, stepOf(plot, (event.clientX - box.left) / box.width), event.clientY);
  });
  conversations?.addEventListener("pointerleave", leave);
  conversations?.addEventListener("focusout", leave);
  conversations?.addEventListener("keydown", event => {
    const plot = plotAt(event), way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!plot || !way) return;
    const calls = Number(plot.dataset.calls), steps = Math.min(calls, 160);
    const at = Math.max(0, Math.min(steps - 1, Number(plot.dataset.at ?? -1) + way));
    say(tellStep(plot, { at, calls, first: Math.floor(at * calls / steps) + 1, last: Math.floor((at + 1) * calls / steps) }));
    event.preventDefault();
  });

  // What is packed is text, compressed.
  const unpack = script => {
    const bytes = Uint8Array.from(atob(script.textContent), letter => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };

  // One conversation is on the page; the others wait in their packs, or where they were left.
  const left = new Map();
  const reach = panel => one(".over-time", panel)?.setAttribute("tabindex", "0");
  const choose = async place => {
    chooser.value = place;
    if (!left.has(place) && one("#conversation").dataset.t !== place) {
      const next = make("div", "", { id: "conversation" });
      next.dataset.t = place;
      const markup = await unpack(one(`.panel[data-t="${CSS.escape(place)}"]`));
      next.append(...new DOMParser().parseFromString(markup, "text/html").body.childNodes);
      reach(next);
      left.set(place, next);
    }
    // Another one may have been chosen meanwhile.
    const now = one("#conversation");
    if (chooser.value !== place || now.dataset.t === place) return;
    left.set(now.dataset.t, now);
    leave();
    now.replaceWith(left.get(place));
    dress(one("#conversation"));
    say(chooser.selectedOptions[0].textContent);
  };
  const chooser = one("#choose");
  if (chooser) {
    reach(one("#conversation"));
    chooser.value = one("#conversation").dataset.t;
    chooser.addEventListener("change", () => choose(chooser.value));
    const step = way => choose(chooser.options[(chooser.selectedIndex + way + chooser.length) % chooser.length].value);
    one("#before").addEventListener("click", () => step(-1));
    one("#after").addEventListener("click", () => step(1));
  }

  // Tables: a cell's number is its value in full, or what it shows.
  const sizes = { KB: 1e3, MB: 1e6, GB: 1e9 };
  const shown = cell => (cell ? cell.textContent.trim() : "");
  const number = cell => {
    if (cell?.dataset.v) return Number(cell.dataset.v);
    const found = shown(cell).replace(/[,$+~]/g, "").replace("−", "-").match(/^(-?[\d.]+)(?: ([KMG]B))?/);
    return found ? Number(found[1]) * (sizes[found[2]] ?? 1) : NaN;
  };
  const sort = button => {
    const head = button.closest("th"), table = head.closest("table");
    const at = head.cellIndex + (head.parentElement.rowIndex > 0 ? 1 : 0);
    const isNumber = head.classList.contains("n");
    const falls = head.ariaSort ? head.ariaSort === "ascending" : isNumber;
    all("[aria-sort]", table).forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", falls ? "descending" : "ascending");
    const bodies = [...table.tBodies];
    const parts = bodies.length > 1 ? bodies : [...bodies[0].rows];
    const cell = part => (part.rows ? part.rows[0] : part).cells[at];
    const compare = (a, b) => {
      if (!isNumber) return shown(cell(a)).localeCompare(shown(cell(b))) * (falls ? -1 : 1);
      const [x, y] = [number(cell(a)), number(cell(b))];
      return Number.isNaN(x) - Number.isNaN(y) || (falls ? y - x : x - y) || 0;
    };
    const sorted = parts.sort(compare);
    (bodies.length > 1 ? table : bodies[0]).append(...sorted);
    say(`Sorted by ${shown(button)}, ${falls ? "descending" : "ascending"}`);
  };

  // What is saved comes out of this page.
  const save = (name, type, text) => {
    const link = make("a", "", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
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
    const row = of => [of.transcript, of.conversation, of.policy, ...ids.map(id => of.values[id])];
    return csv([["transcript", "conversation", "policy", ...ids], ...results.rows.map(row)]);
  };
  const copy = async button => {
    const code = one("code", button.parentElement);
    try {
      await navigator.clipboard.writeText(code.textContent + "\n");
    } catch {
      getSelection().selectAllChildren(code);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    say("Copied");
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };

  document.addEventListener("click", event => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.classList.contains("sort")) sort(button);
    else if (button.classList.contains("pin")) pin(button.dataset.pin, button.dataset.name);
    else if (button.classList.contains("copy")) copy(button);
    else if (button.classList.contains("csv")) save("table.csv", "text/csv", tableCsv(one("table", button.parentElement)));
    else if (button.id === "save-json") unpack(one("#data")).then(text => save("results.json", "application/json", text));
    else if (button.id === "save-csv") unpack(one("#data")).then(text => save("rows.csv", "text/csv", allRows(text)));
    else if (button.classList.contains("group")) {
      const hidden = one("#comparison").classList.toggle(`hide-${button.dataset.g}`);
      button.setAttribute("aria-pressed", String(!hidden));
    } else if (button.classList.contains("key")) {
      const line = button.dataset.k, figure = button.closest("figure");
      const off = button.getAttribute("aria-pressed") === "true";
      button.setAttribute("aria-pressed", String(!off));
      if (figure) return all(`[data-line="${line}"]`, figure).forEach(of => of.classList.toggle("off", off));
      off ? lines.add(line) : lines.delete(line);
      dress(one("#conversation"));
    }
  });
  document.addEventListener("keydown", event => { if (event.key === "Escape") leave(); });
  dress(document);
})();
