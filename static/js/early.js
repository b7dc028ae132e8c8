// How the page looks, before any of it is drawn (looks.js).
(() => {
  const root = document.documentElement;
  const from = document.currentScript.src;
  let set = [];

  function show({ properties = {}, ...looks }) {
    for (const name of set) root.style.removeProperty(name);
    set = Object.keys(properties);
    for (const name of set) root.style.setProperty(name, properties[name]);
    for (const name of ["scheme", "wrap", "motion"]) {
      if (looks[name]) root.dataset[name] = looks[name];
      else delete root.dataset[name];
    }
    root.style.colorScheme = looks.scheme ?? "";
    document.dispatchEvent(new Event("looks:shown"));
  }

  function kept() {
    try {
      return JSON.parse(localStorage.getItem("looks")) ?? {};
    } catch {
      return {};
    }
  }

  const looks = kept();
  if (looks.properties) show(looks);
  if (looks.from && looks.from !== from) addEventListener("load", () => import(new URL("looks.js", from)).then(({ renew }) => renew()));
  document.addEventListener("looks:show", ({ detail }) => show(detail));
  addEventListener("storage", ({ key }) => key === "looks" && show(kept()));
})();

// What a person does before the page is wired is done once it is. Scripts run when the whole page has been read; until
// then the browser would send a form by itself: to the wrong place, and with what was typed in the address.
(() => {
  const CARDS = ".permission, form.question, .inbox-entry"; // they take nothing before a person can have read them
  const FORMS = "form:not([method], [action])";
  const CONTROLS = "button[type=button]:not([popovertarget]), :is([hx-get], [hx-post]):not(a, form, button, input, select)";
  const done = new Map(); // element and kind of event -> how it is done again

  function remember(event, element, again) {
    if (!element.closest(CARDS)) done.set(element, (done.get(element) ?? new Map()).set(event.type, again));
  }

  function submitted(event) {
    const form = event.target;
    if (!form.matches(FORMS)) return;
    event.preventDefault();
    remember(event, form, () => form.requestSubmit(event.submitter));
  }

  function clicked(event) {
    const control = event.target.closest?.(CONTROLS);
    if (control) remember(event, control, () => control.click());
  }

  function written(event) {
    remember(event, event.target, () => event.target.dispatchEvent(new Event(event.type, { bubbles: true })));
  }

  const heard = { submit: submitted, click: clicked, input: written, change: written };
  for (const [type, hear] of Object.entries(heard)) document.addEventListener(type, hear, true);
  // Of the window, so that it comes after all that wire the page at the same event of the document.
  addEventListener("DOMContentLoaded", () => {
    for (const [type, hear] of Object.entries(heard)) document.removeEventListener(type, hear, true);
    for (const [element, kinds] of done) if (element.isConnected) for (const again of kinds.values()) again();
  }, { once: true });
})();
