// Ids of messages as the server makes them (sessions/ids.py), so that a prompt has its own before it is sent.

const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM = 14;

export function messageId() {
  const time = (Date.now() * 4096) % 2 ** 48;
  const tail = [...crypto.getRandomValues(new Uint8Array(RANDOM))].map((byte) => LETTERS[byte % LETTERS.length]);
  return `msg_${time.toString(16).padStart(12, "0")}${tail.join("")}`;
}
