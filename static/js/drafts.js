// Drafts outlive a browser that is killed, with what is attached to them: what a page has in `localStorage` is on the disk
// up to a minute later, and has no room for pictures. So a draft is also a row of the browser's database, soon after each
// change, and what is newer there than in the page when that begins is put back.
import { attachments } from "./attachments.js";
import { draft, keep, place, putBack, read, setDraft } from "./composer.js";
import { rows } from "./disk.js";
import { onPage, thisPage } from "./page.js";
import { shell } from "./shell.js";

const PAUSE = 300; // milliseconds without a key
const disk = rows("opencode-web-drafts", "drafts"); // `{at, text, shell, files}` by page
let found = null; // the promise that the row of this page was looked at
let due = 0;

const time = () => Number(read("draft-at"));

async function write() {
  clearTimeout(due);
  due = 0;
  const [key, row] = [place(), { at: time(), text: draft(), shell: shell.active(), files: attachments.whole() }];
  await found;
  disk.put(key, row);
}

// What was attached when the page was left is in the row; it is not once it was sent.
async function look() {
  const here = thisPage();
  const [at, begun, attached] = [time(), draft(), read("attached")];
  const row = await disk.get(place());
  if (!row || !here()) return;
  const isNewer = row.at > at;
  if ((isNewer || attached) && row.files.length) attachments.putBack(...row.files);
  if (!isNewer) return;
  if (draft() === begun) setDraft(row.text);
  else putBack(row.text);
  if (row.shell && draft()) shell.enter();
}

document.addEventListener("draft:written", () => {
  clearTimeout(due);
  due = setTimeout(write, PAUSE);
});
document.addEventListener("draft:attached", () => {
  keep("attached", attachments.any() ? "yes" : "");
  write();
});
document.addEventListener("page:becomes", () => disk.drop(`${document.body.dataset.project}:new`));
onPage((goesOn) => {
  found = goesOn || attachments.any() ? null : look();
  return () => due && write();
});
