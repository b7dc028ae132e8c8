// The list of suggestions above the prompt: what is in it, which one is chosen, whether it is open.
import { field } from "./composer.js";

const box = document.getElementById("completions");
let active = -1;

export const list = {
  isOpen: () => !box.hidden,
  chosen: () => box.children[active],
  fill(options) {
    box.replaceChildren(...options);
    if (options.length) open();
    else list.hide();
  },
  // What comes late goes to the end, and what was chosen stays chosen.
  append(options) {
    box.append(...options);
    if (box.hidden && options.length) open();
    else number();
  },
  hide() {
    box.hidden = true;
    box.replaceChildren();
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  },
  move: (by) => select(active + by),
  // The chosen one first.
  options: () => [box.children[active], ...box.children],
  onPick(pick) {
    box.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const option = event.target.closest("[role=option]");
      if (option) pick(option);
    });
  },
};

function open() {
  number();
  box.hidden = false;
  field.setAttribute("aria-expanded", "true");
  select(0);
}

function number() {
  [...box.children].forEach((option, at) => (option.id = `option-${at}`));
}

function select(index) {
  const options = [...box.children];
  active = (index + options.length) % options.length;
  options.forEach((option, at) => option.setAttribute("aria-selected", String(at === active)));
  field.setAttribute("aria-activedescendant", options[active].id);
  options[active].scrollIntoView({ block: "nearest" });
}
