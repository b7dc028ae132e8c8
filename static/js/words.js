// What scripts say, in the language of the page: English stands here, the others in its catalogue (docs/languages.md).
const { words = {}, plural } = window.catalogue ?? {};

export const gettext = (text) => words[text] ?? text;

export const ngettext = (one, many, count) => words[one]?.[plural(count)] ?? (count === 1 ? one : many);

// `%(name)s` in a text by the value of that name.
export const interpolate = (text, values) => text.replace(/%\((\w+)\)s/g, (_, name) => values[name]);

// A number as people of the language write it.
export const number = (value) => value.toLocaleString(document.documentElement.lang);
