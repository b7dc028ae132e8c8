// A session that is looked at has been read: the server tells all lists of it.

let telling = false; // what the page shows is older than what it has just told

function look() {
  const source = document.getElementById("activity");
  if (telling || document.hidden || !source.matches("[data-unread]")) return;
  telling = true;
  const told = () => (telling = false);
  window.htmx.ajax("POST", `${document.getElementById("composer").dataset.base}/read`, { source, swap: "none" }).then(told, told);
}

for (const name of ["page:connected", "page:changed", "page:replaced", "visibilitychange"]) document.addEventListener(name, look);
