// Whether what is sent while the agent works joins the running turn or waits until it has ended: the menu at the
// send button, remembered for every session.

const STORED = "delivery";
const OTHER = { steer: "queue", queue: "steer" };
const menu = document.getElementById("delivery");
const button = document.getElementById("delivery-button");
const items = [...menu.querySelectorAll("[role=menuitemradio]")];

// What is chosen, or the other of both.
export function delivery(other) {
  const { delivery: chosen } = menu.dataset;
  return other ? OTHER[chosen] : chosen;
}

function choose(value) {
  const item = items.find((one) => one.value === value);
  if (!item) return;
  menu.dataset.delivery = value;
  for (const one of items) one.setAttribute("aria-checked", String(one === item));
  document.getElementById("delivery-word").textContent = item.querySelector("[data-word]").textContent;
}

for (const item of items) {
  item.addEventListener("click", () => {
    choose(item.value);
    localStorage.setItem(STORED, item.value);
    button.focus();
  });
}
choose(localStorage.getItem(STORED));
