// Files pasted, dropped or chosen: read here, sent with the prompt as data URLs. They wait for their page while another
// session is shown, and with its draft for a browser that comes back (drafts.js).
import { place } from "./composer.js";
import { onPage } from "./page.js";

const LARGEST = 8 * 1024 * 1024;
const TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"];

const list = document.getElementById("attachments");
const problem = document.getElementById("composer-problem");
const form = document.getElementById("composer");
const elsewhere = new Map(); // by page: what waits on those that were left
const reading = new Map(); // file -> the promise that it is read
let files = [];

export const attachments = {
  take() {
    const taken = files;
    put([]);
    return taken;
  },
  putBack(...taken) {
    put([...taken, ...files]);
  },
  any: () => files.length > 0,
  // Those that are read.
  whole: () => files.filter((file) => file.url),
  // Kept once all that is sent is read; null where it is.
  read(sent) {
    const waits = sent.map((file) => reading.get(file)).filter(Boolean);
    return waits.length ? Promise.all(waits) : null;
  },
  have: (wanted) => wanted.every((file) => files.includes(file)),
  // Those, or of the same content.
  remove(gone) {
    put(files.filter((file) => !gone.some((one) => one === file || (one.url && one.url === file.url))));
  },
};

function put(now) {
  if (!now.length && !files.length) return;
  files = now;
  changed();
}

function changed() {
  draw();
  document.dispatchEvent(new Event("draft:attached"));
}

function take(chosen) {
  problem.replaceChildren();
  for (const file of chosen) {
    if (!TYPES.includes(file.type)) complain(`${file.name}: only images, PDF and plain text can be attached.`);
    else if (file.size > LARGEST) complain(`${file.name} is larger than ${LARGEST / 2 ** 20} MB.`);
    else files.push(attach(file));
  }
  changed();
}

// It is in its place at once; what it holds comes once it is read.
function attach(file) {
  const attached = { mime: file.type, filename: file.name || "pasted", url: "" };
  const done = read(file).then((url) => {
    attached.url = url;
    reading.delete(attached);
    if (files.includes(attached)) changed();
  });
  reading.set(attached, done);
  done.catch(() => {
    reading.delete(attached);
    attachments.remove([attached]);
    complain(`${attached.filename} cannot be read.`);
  });
  return attached;
}

function read(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.replace(/^data:[^,]*;base64,/, `data:${file.type};base64,`));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

function complain(text) {
  const line = document.createElement("p");
  line.className = "problem";
  line.textContent = text;
  problem.append(line);
}

function draw() {
  list.replaceChildren(...files.map(row));
}

function row(file) {
  const item = document.createElement("li");
  if (file.mime.startsWith("image/") && file.url) {
    const image = document.createElement("img");
    image.src = file.url;
    image.alt = "";
    item.append(image);
  }
  const name = document.createElement("span");
  name.textContent = file.filename;
  const remove = document.createElement("button");
  remove.type = "button";
  remove.className = "icon-button";
  remove.textContent = "×";
  remove.setAttribute("aria-label", `Remove ${file.filename}`);
  remove.addEventListener("click", () => put(files.filter((other) => other !== file)));
  item.append(name, remove);
  return item;
}

document.getElementById("prompt").addEventListener("paste", (event) => {
  if (!event.clipboardData.files.length) return;
  event.preventDefault();
  take([...event.clipboardData.files]);
});
document.getElementById("attach").addEventListener("change", (event) => {
  take([...event.target.files]);
  event.target.value = "";
});
for (const name of ["dragover", "drop"]) {
  document.addEventListener(name, (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    form.classList.toggle("dropping", name === "dragover");
    if (name === "drop") take([...event.dataTransfer.files]);
  });
}
document.addEventListener("dragleave", () => form.classList.remove("dropping"));
onPage((goesOn) => {
  if (!goesOn) files = elsewhere.get(place()) ?? [];
  draw();
  return () => elsewhere.set(place(), files);
});
