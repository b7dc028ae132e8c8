// What somebody is typing beside a hunk is not lost when its file is shown anew.

const TEXT = "textarea, input:not([type=checkbox], [type=radio], [type=hidden], [type=search])";
const HOLDERS = ".hunk-why, .settle, tr.note";

export function dirty(field) {
  return field.matches(TEXT) && (field.value !== field.defaultValue || field === document.activeElement);
}

// It was sent: it may go.
export function sent(field) {
  if (field) field.defaultValue = field.value;
}

// Moves what is being typed into the fresh body of a file. False when there is no place for it any more: then the
// old body has to stay until it is finished.
export function carry(old, fresh) {
  const moves = [];
  const holders = [...old.querySelectorAll(TEXT)].filter(dirty).map((field) => field.closest(HOLDERS));
  for (const holder of new Set(holders)) {
    const place = holder && same(holder, fresh);
    const put = place && (holder.matches("tr") ? underLine(holder, place) : inBar(holder, place));
    if (!put) return false;
    moves.push(put);
  }
  for (const move of moves) move();
  if (!fresh.querySelector(".hunk-state[data-outcome]")) told(old, fresh);
  return true;
}

// What came of the last verdict, and the choice it left, stand until the next one.
function told(old, fresh) {
  for (const said of old.querySelectorAll(".hunk-state[data-outcome], .settle:not([data-sent])")) {
    const place = same(said, fresh);
    if (!place || place.dataset.state !== said.closest("[data-hunk]").dataset.state) continue;
    if (said.matches(".settle")) inBar(said, place)();
    else {
      place.querySelector(".hunk-state")?.remove();
      place.querySelector(".hunk-at").after(said);
    }
  }
}

// The same hunk in the fresh body.
function same(element, fresh) {
  const hunk = element.closest("[data-hunk]");
  return hunk && fresh.querySelector(`[id="${hunk.id}"][data-hunk="${CSS.escape(hunk.dataset.hunk)}"]`);
}

function inBar(holder, place) {
  const bar = place.querySelector(".hunk-bar");
  const there = bar.querySelector(`.${holder.classList[0]}`);
  return () => {
    if (there) there.replaceWith(holder);
    else bar.append(holder);
    if (holder.matches(".hunk-why")) bar.querySelector("[data-why]")?.setAttribute("aria-expanded", String(!holder.hidden));
  };
}

function underLine(holder, place) {
  const numbers = (row) => [...row.querySelectorAll("td.num")].map((cell) => cell.dataset.n).join();
  let line = holder.previousElementSibling;
  while (line?.matches(".note")) line = line.previousElementSibling;
  const found = line && [...place.rows].find((row) => row.querySelector("td.num") && numbers(row) === numbers(line));
  return found && (() => found.after(holder));
}
