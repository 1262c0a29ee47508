// Tokens per call: a cursor shows one step of all lines.
const MAX_STEPS = 160;
const stepAt = (plot, at) => {
  const calls = Number(plot.dataset.calls), steps = Math.min(calls, MAX_STEPS);
  return { at, calls, first: Math.floor(at * calls / steps) + 1, last: Math.floor((at + 1) * calls / steps) };
};
const stepOf = (plot, share) => {
  const calls = Number(plot.dataset.calls), steps = Math.min(calls, MAX_STEPS);
  const call = Math.max(1, Math.min(calls, Math.round(1 + share * (Math.max(calls, 2) - 1))));
  let at = Math.min(steps - 1, Math.floor((call - 1) * steps / calls));
  while (stepAt(plot, at).last < call) at += 1;
  return { ...stepAt(plot, at), call };
};
// A vertical line in the plot at a call.
const drawLine = (plot, name, call) => {
  const svg = find(".over-time", plot), calls = Number(plot.dataset.calls);
  const share = (call - 1) / (Math.max(calls, 2) - 1);
  let line = find(`.${name}`, svg);
  if (!line) {
    line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    line.setAttribute("class", name);
    line.setAttribute("y2", "100%");
    svg.append(line);
  }
  for (const end of ["x1", "x2"]) line.setAttribute(end, `${share * 100}%`);
  return share;
};
const showStep = (plot, { at, first, last }, y) => {
  const svg = find(".over-time", plot), box = svg.getBoundingClientRect();
  const share = drawLine(plot, "cursor", (first + last) / 2);
  plot.dataset.at = at;
  const series = findAll(".series:not(.off)", svg).map(({ dataset }) => {
    const line = exactLines[Number(plot.dataset.trace)]?.[Number(dataset.at)];
    const tokens = line ? Math.max(...line.tokens.slice(first - 1, last)) : -Infinity;
    const edits = line ? line.events.filter(({ call }) => call >= first && call <= last) : [];
    const by = [...new Set(edits.map(edit => edit.layer))].join(", "), added = edits.reduce((sum, edit) => sum + edit.added, 0);
    const text = edits.length ? ` (${by}: ${edits.length} edit${edits.length > 1 ? "s" : ""}, ${signed(added)})` : "";
    return { tokens, pair: [dataset.name, grouped(tokens) + text] };
  });
  const pairs = series.filter(line => Number.isFinite(line.tokens)).sort((a, b) => b.tokens - a.tokens).map(line => line.pair);
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
conversations?.addEventListener("click", event => {
  const plot = plotAt(event);
  if (!plot) return;
  const box = find(".over-time", plot).getBoundingClientRect();
  showCallOf(plot, stepOf(plot, (event.clientX - box.left) / box.width));
});
conversations?.addEventListener("keydown", event => {
  if (plotAt(event) && event.key === "Enter") return showCallOf(plotAt(event), stepAt(plotAt(event), Number(plotAt(event).dataset.at ?? 0)));
  const plot = plotAt(event), direction = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!plot || !direction) return;
  const steps = Math.min(Number(plot.dataset.calls), MAX_STEPS);
  announce(showStep(plot, stepAt(plot, Math.max(0, Math.min(steps - 1, Number(plot.dataset.at ?? -1) + direction)))));
  event.preventDefault();
});
