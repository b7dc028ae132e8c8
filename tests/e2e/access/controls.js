// The controls of a page that can be seen: by the place they are in, each as `kind: name`.
() => {
  const CONTROLS = "a[href], button, input, select, textarea, summary, [role=tab], [role=menuitem], [role=separator], [role=tree]";
  const PLACES = "dialog, [popover], [role=menu], [role=toolbar], [role=search], form[aria-label], section[aria-label], nav, aside, main";
  const ROWS = "#session-list, #messages .markdown, .files-tree";  // of the person's own, in any number
  const KINDS = { A: "link", SELECT: "choice", TEXTAREA: "text", SUMMARY: "fold" };
  const words = (text) => (text ?? "").replace(/\d[\d.,:]*/g, "#").replace(/\s+/g, " ").trim();
  const labelled = (element) => words(element.getAttribute("aria-label"))
    || words((element.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent).join(" "));
  const written = (element) => {
    const copy = element.cloneNode(true);
    copy.querySelectorAll("key-hint, time").forEach((part) => part.remove());
    return words(copy.textContent);
  };
  const name = (element) => labelled(element) || words(element.labels?.[0]?.textContent) || written(element)
    || words(element.dataset.title ?? element.title) || words(element.placeholder);
  const kind = (element) => element.getAttribute("role") ?? KINDS[element.tagName] ?? (element.tagName === "INPUT" ? element.type : "button");
  const found = {};
  for (const element of document.querySelectorAll(CONTROLS)) {
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: false }) || element.closest(ROWS)) continue;
    const place = element.parentElement.closest(PLACES);
    const where = (place && (labelled(place) || place.tagName.toLowerCase())) || "page";
    (found[where] ??= new Set()).add(`${kind(element)}: ${name(element)}`);
  }
  return Object.fromEntries(Object.entries(found).map(([place, names]) => [place, [...names].sort()]));
}
