// What stands in for a page while the server is away tries it again: by a click, when there is a network, when it is looked at.
const again = () => location.reload();
document.getElementById("again").addEventListener("click", again);
addEventListener("online", again);
document.addEventListener("visibilitychange", () => document.hidden || again());
