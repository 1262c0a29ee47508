"use strict";

const root = document.documentElement;
const find = (css, from = document) => from.querySelector(css);
const findAll = (css, from = document) => [...from.querySelectorAll(css)];
const createElement = (tag, text, more = {}) => Object.assign(document.createElement(tag), { textContent: text }, more);
const announce = text => { find("#live").textContent = text; };
const grouped = number => number.toLocaleString("en-US");
root.classList.add("scripted");

// Theme: follows the system until the user chooses; the button names the other one.
const system = matchMedia("(prefers-color-scheme: dark)");
const theme = find("#theme");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
const showTheme = () => { theme.textContent = isDark() ? "Light theme" : "Dark theme"; };
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

// Packed texts are gzip in Base64.
const unpack = script => {
  const bytes = Uint8Array.from(atob(script.textContent), letter => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
};
const unpackMarkup = async script => new DOMParser().parseFromString(await unpack(script), "text/html").body;

// The exact numbers of the lines, by plot and line. They are packed as differences.
let exactLines = [];
const restored = ({ tokens, layers, edits }) => {
  let sum = 0, call = 0;
  const events = [];
  for (let at = 0; at < edits.length; at += 3) events.push({ call: (call += edits[at]), layer: layers[edits[at + 1]], added: edits[at + 2] });
  return { tokens: tokens.map(more => (sum += more)), events };
};
const unpacked = unpack(find("#data")).then(text => { exactLines = JSON.parse(text).map(lines => lines.map(restored)); });

// Collapsed parts are unpacked when they are opened.
document.addEventListener("toggle", async ({ target }) => {
  const script = find(":scope > script.inside", target);
  if (!script || target.dataset.opened) return;
  target.dataset.opened = true;
  script.replaceWith(...(await unpackMarkup(script)).childNodes);
  decorate(target);
}, true);

// A link to a collapsed part of the page opens it.
document.addEventListener("click", event => {
  const link = event.target.closest('a[href^="#"]');
  const part = link && document.getElementById(link.getAttribute("href").slice(1));
  if (part?.tagName === "DETAILS") part.open = true;
});
