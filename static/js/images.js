// An image of the conversation opens as large as the window allows.

document.addEventListener("click", (event) => {
  const small = event.target.closest("[data-enlarge]")?.querySelector("img");
  if (!small) return;
  const dialog = document.createElement("dialog");
  dialog.className = "picture";
  dialog.setAttribute("aria-label", small.alt);
  const image = new Image();
  Object.assign(image, { src: small.src, alt: small.alt });
  const close = document.createElement("button");
  Object.assign(close, { type: "button", className: "button", textContent: "Close" });
  close.dataset.close = "";
  dialog.append(image, close);
  document.getElementById("dialog").append(dialog);
});
