// Whether the page is dark: as this browser's looks say, else as the system does.
const media = matchMedia("(prefers-color-scheme: dark)");

export const isDark = () => (document.documentElement.dataset.scheme ? document.documentElement.dataset.scheme === "dark" : media.matches);

export function onScheme(act, options) {
  media.addEventListener("change", act, options);
  document.addEventListener("looks:shown", act, options);
}
