// One call, below the plot: its request's size and the edits before it under each policy, and the command that prints the request.
const place = find("#call");
let shownCall = null;
const hideCall = () => {
  if (place) {
    place.hidden = true;
    find("#conversations").append(place);
  }
  shownCall = null;
  findAll("#conversation .chosen-call").forEach(line => line.remove());
};

// The lines of the plot with their exact numbers.
const linesOf = async plot => {
  await unpacked;
  const lines = exactLines[Number(plot.dataset.trace)];
  return findAll(".over-time .series", plot).map(({ dataset }) =>
    ({ policy: dataset.p, name: dataset.name, options: dataset.arguments, ...lines[Number(dataset.at)] }));
};
const signed = number => `${number > 0 ? "+" : "−"}${grouped(Math.abs(number))}`;
const editText = ({ layer, added }) => `${layer}: ${signed(added)}`;

const callRow = (line, call) => {
  const row = createElement("tr", ""), name = createElement("th", "", { scope: "row" }), edits = createElement("td", "");
  name.append(createElement("bdi", line.name));
  for (const event of line.events.filter(event => event.call === call)) {
    const edit = createElement("div", "");
    edit.append(createElement("bdi", editText(event)));
    edits.append(edit);
  }
  row.dataset.p = line.policy;
  row.append(name, createElement("td", call in [0, ...line.tokens] && call > 0 ? grouped(line.tokens[call - 1]) : "–", { className: "n" }), edits);
  return row;
};

// The request itself, if the page holds it.
let shownRequest;
const showRequest = async policy => {
  const key = `${find("#conversation").dataset.t} ${shownCall.call} ${policy}`;
  const script = findAll("script.request").find(script => script.dataset.key === key);
  shownRequest = key;
  find("#call-request").hidden = !script;
  const body = script && (await unpackMarkup(script));
  // The user may have chosen another call in the meantime.
  if (body && shownRequest === key) find("#call-request .scroll").replaceChildren(...body.childNodes);
};
find("#whole-request")?.addEventListener("click", event => {
  const changed = find("#call-request .scroll").classList.toggle("only-changed");
  event.currentTarget.setAttribute("aria-pressed", String(!changed));
});

const showCommand = () => {
  const line = shownCall.lines.find(line => line.policy === find("#call-policy").value) ?? shownCall.lines[0];
  showRequest(line.policy);
  findAll(".of-command", place).forEach(part => { part.hidden = !line.options; });
  if (line.options) find("#call-command").textContent = `${shownCall.plot.dataset.command} ${line.options} --call ${shownCall.call}`;
  find("#call-file").hidden = !line.options?.startsWith("-p policy.toml");
};

// Shows a call; a policy is chosen if it has a line, else the one that was chosen before, pinned or recommended.
const showCall = async (plot, call, policy) => {
  const lines = await linesOf(plot), calls = Number(plot.dataset.calls);
  if (lines.length === 0) return;
  call = Math.max(1, Math.min(calls, call));
  const wanted = [policy, shownCall && find("#call-policy").value, ...pinned.keys(), find("#comparison .chosen")?.dataset.p];
  const chosen = wanted.find(policy => lines.some(line => line.policy === policy)) ?? lines[0].policy;
  shownCall = { plot, call, lines };
  find("#call-title").textContent = `Call ${grouped(call)} of ${grouped(calls)}`;
  find("#call-rows").replaceChildren(...lines.map(line => callRow(line, call)));
  find("#call-policy").replaceChildren(...lines.map(line => createElement("option", line.name, { value: line.policy, selected: line.policy === chosen })));
  showCommand();
  plot.after(place);
  place.hidden = false;
  drawLine(plot, "chosen-call", call);
  decorate(place);
  announce(`Call ${call}`);
};

// A step of the plot may be several calls: the first one with an edit, else the one that was pointed at.
const showCallOf = async (plot, { first, last, call = first }) => {
  const lines = await linesOf(plot);
  const edited = lines.flatMap(line => line.events.map(event => event.call)).filter(call => call >= first && call <= last);
  return showCall(plot, edited.length ? Math.min(...edited) : call);
};

// From a lost fact or a finding to the call that it names.
const goTo = async ({ t, call, policy }) => {
  await showConversation(t);
  const plot = find("#conversation .plot.calls");
  if (!plot) return;
  await showCall(plot, Number(call), policy);
  plot.scrollIntoView({ block: "start" });
  find("#call-title").focus({ preventScroll: true });
};

place?.addEventListener("click", event => {
  const { step, edit } = event.target.closest("button")?.dataset ?? {};
  if (!shownCall) return;
  if (step) showCall(shownCall.plot, shownCall.call + Number(step));
  if (event.target.id === "call-close") hideCall();
  if (!edit) return;
  const line = shownCall.lines.find(line => line.policy === find("#call-policy").value);
  const calls = line.events.map(event => event.call).filter(call => (edit > 0 ? call > shownCall.call : call < shownCall.call));
  if (calls.length) showCall(shownCall.plot, edit > 0 ? Math.min(...calls) : Math.max(...calls));
  else announce("No more edits of this policy");
});
find("#call-policy")?.addEventListener("change", showCommand);
