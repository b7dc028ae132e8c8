// Options of a list box whose keys stay in a search field: the active one is told by the field (ARIA, combobox).
export const active = (list) => list?.querySelector("[data-active]");

export function activate(search, list, option) {
  active(list)?.removeAttribute("data-active");
  option?.setAttribute("data-active", "");
  if (option) search.setAttribute("aria-activedescendant", option.id);
  else search.removeAttribute("aria-activedescendant");
  option?.scrollIntoView({ block: "nearest" });
}

// By so many of those that are shown, round the ends.
export function step(search, list, options, by) {
  activate(search, list, options[(options.indexOf(active(list)) + by + options.length) % options.length]);
}
