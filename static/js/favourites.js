// The models that a person marked or used last, for every session of this browser.

const FAVOURITE = "models.favourite";
const RECENT = "models.recent";
const MOST_RECENT = 5;

function read(name) {
  try {
    const found = JSON.parse(localStorage.getItem(name) || "[]");
    return Array.isArray(found) ? found.map(String) : [];
  } catch {
    return [];
  }
}

export const favourites = () => read(FAVOURITE);
export const recents = () => read(RECENT);

export function use(model) {
  const rest = recents().filter((other) => other !== model);
  localStorage.setItem(RECENT, JSON.stringify([model, ...rest].slice(0, MOST_RECENT)));
}

// Whether it is one then.
export function toggle(model) {
  const rest = favourites().filter((other) => other !== model);
  const marked = rest.length === favourites().length;
  localStorage.setItem(FAVOURITE, JSON.stringify(marked ? [...rest, model] : rest));
  return marked;
}
