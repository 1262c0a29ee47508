// Findings: the rows are unpacked when their part of the page comes near, and only some are drawn.
const FOUND_AT_ONCE = 50;
const foundPart = find("#findings");
let foundRows, foundLimit = FOUND_AT_ONCE;
const allFound = () => (foundRows ??= unpackMarkup(find("script.findings")).then(body => findAll("tr", body)));
const showFound = async () => {
  const rows = await allFound();
  const [kind, policy, level, text] = ["kind", "policy", "level", "text"].map(name => find(`#filter-${name}`).value);
  const wanted = text.toLowerCase();
  const found = rows.filter(({ dataset, textContent }) =>
    (!kind || dataset.kind === kind) && (!policy || dataset.p === policy) && (!level || dataset.level === level) &&
    (!wanted || textContent.toLowerCase().includes(wanted)));
  find("#found-rows tbody").replaceChildren(...found.slice(0, foundLimit));
  find("#found").textContent = `${grouped(Math.min(foundLimit, found.length))} of ${grouped(found.length)} shown`;
  find("#more-found").hidden = found.length <= foundLimit;
  decorate(find("#found-rows"));
};
if (foundPart) {
  foundPart.addEventListener("input", () => { foundLimit = FOUND_AT_ONCE; showFound(); });
  find("#more-found").addEventListener("click", () => { foundLimit += FOUND_AT_ONCE; showFound(); });
  const near = new IntersectionObserver(entries => {
    if (entries.some(entry => entry.isIntersecting)) { near.disconnect(); showFound(); }
  }, { rootMargin: "600px" });
  near.observe(foundPart);
}
