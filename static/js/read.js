// A session that is looked at has been read: the server tells all lists of it.

function look() {
  const source = document.getElementById("activity");
  if (document.hidden || !source.matches("[data-unread]")) return;
  window.htmx.ajax("POST", `${document.getElementById("composer").dataset.base}/read`, { source, swap: "none" });
}

for (const name of ["page:connected", "page:changed", "page:replaced", "visibilitychange"]) document.addEventListener(name, look);
