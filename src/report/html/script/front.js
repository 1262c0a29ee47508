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
    findAll(`.around[data-p="${dot.dataset.p}"]`, scatter).forEach(around => around.classList.add("near"));
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
