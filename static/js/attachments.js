// Files pasted, dropped or chosen: read here, sent with the prompt as data URLs. They wait for their page while another
// session is shown, and with its draft for a browser that comes back (drafts.js). Long text that is pasted is a file too.
import { add, complain, field, form, place, problem } from "./composer.js";
import { onPage } from "./page.js";

const LARGEST = 8 * 1024 * 1024;
const TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"];
const LONG = { characters: 4_000, lines: 40 };
const PATH = "application/x-opencode-path"; // what is dragged from the tree, as a mention

const list = document.getElementById("attachments");
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

// Where the server cannot be reached.
const plainRow = ({ filename }) => Object.assign(document.createElement("li"), { textContent: filename });

async function draw() {
  if (!files.length) return list.replaceChildren();
  const { row } = await import("./attached.js").catch(() => ({ row: plainRow }));
  const drop = (file) => put(files.filter((other) => other !== file));
  list.replaceChildren(...files.map((file) => row(file, () => drop(file), (fresh) => take([fresh], file))));
}

// At the end, or in the place of one.
function take(chosen, old) {
  problem.replaceChildren();
  const fit = chosen.filter(({ size }) => size <= LARGEST);
  const large = chosen.filter((file) => !fit.includes(file)).map(({ name }) => name);
  const fresh = fit.map(attach);
  put(old && fresh.length ? files.map((file) => (file === old ? fresh[0] : file)) : [...files, ...fresh]);
  if (large.length) complain(`${large.join(", ")}: larger than ${LARGEST / 2 ** 20} MB.`);
}

// It is in its place at once; what it holds comes once it is read.
function attach(file) {
  const attached = { mime: TYPES.includes(file.type) ? file.type : "text/plain", filename: file.name || "pasted", url: "" };
  const done = read(file, attached.mime).then((url) => {
    attached.url = url;
    reading.delete(attached);
    if (files.includes(attached)) changed();
  });
  reading.set(attached, done);
  done.catch((error) => {
    reading.delete(attached);
    put(files.filter((other) => other !== attached));
    complain(error instanceof TypeError ? `${attached.filename}: only images, PDF and text can be attached.` : `${attached.filename} cannot be read.`);
  });
  return attached;
}

// Throws a TypeError for what should be text and is not.
async function read(file, mime) {
  if (mime !== file.type && new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()).includes("\0")) throw new TypeError();
  const reader = new FileReader();
  reader.readAsDataURL(file);
  await new Promise((resolve, reject) => Object.assign(reader, { onload: resolve, onerror: () => reject(reader.error) }));
  return reader.result.replace(/^data:[^,]*;base64,/, `data:${mime};base64,`);
}

let isPlain = false; // Shift was held at the key that pastes

function pasted(text) {
  const isLong = text.length > LONG.characters || text.split("\n").length > LONG.lines;
  if (!isLong || isPlain || form.matches("[data-shell], [data-editing]")) return [];
  const names = files.map(({ filename }) => filename);
  let number = 1;
  while (names.includes(`pasted-${number}.txt`)) number += 1;
  return [new File([text], `pasted-${number}.txt`, { type: "text/plain" })];
}

field.addEventListener("keydown", ({ key, shiftKey, ctrlKey, metaKey }) => {
  isPlain = shiftKey && (ctrlKey || metaKey) && key.toLowerCase() === "v";
});
field.addEventListener("paste", (event) => {
  const { clipboardData } = event;
  const chosen = clipboardData.files.length ? [...clipboardData.files] : pasted(clipboardData.getData("text/plain"));
  isPlain = false;
  if (!chosen.length) return;
  event.preventDefault();
  take(chosen);
});
document.getElementById("attach").addEventListener("change", (event) => {
  take([...event.target.files]);
  event.target.value = "";
});
for (const name of ["dragover", "drop"]) {
  document.addEventListener(name, (event) => {
    const types = event.dataTransfer?.types ?? [];
    const isPath = types.includes(PATH) && !event.target.closest("#sidebar");
    if (!isPath && !types.includes("Files")) return;
    event.preventDefault();
    form.classList.toggle("dropping", name === "dragover");
    if (name === "dragover") return;
    if (isPath) add(event.dataTransfer.getData(PATH));
    else take([...event.dataTransfer.files]);
  });
}
for (const name of ["dragleave", "dragend"]) document.addEventListener(name, () => form.classList.remove("dropping"));
onPage((goesOn) => {
  if (!goesOn) files = elsewhere.get(place()) ?? [];
  draw();
  return () => elsewhere.set(place(), files);
});
