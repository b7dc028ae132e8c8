// An image of the conversation opens as large as the window allows.
document.addEventListener("click", async (event) => {
  const small = event.target.closest("[data-enlarge]")?.querySelector("img");
  if (small) (await import("./picture.js")).enlarge(small.src, small.alt);
});
