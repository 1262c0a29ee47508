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

// All results, unpacked when they are first needed.
let results;
const allResults = () => (results ??= unpack(find("#data")).then(JSON.parse));

// A link to a collapsed part of the page opens it.
document.addEventListener("click", event => {
  const link = event.target.closest('a[href^="#"]');
  const part = link && document.getElementById(link.getAttribute("href").slice(1));
  if (part?.tagName === "DETAILS") part.open = true;
});
