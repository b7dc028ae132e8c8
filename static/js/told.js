// Shows notifications, while nobody looks at any page of this program. Loaded with the first.
const NOTES = [660, 880]; // Hz

// Pages that are looked at share a lock.
const isLookedAt = async () => (await navigator.locks?.query())?.held.some(({ name }) => name === "looked-at");

// Tabs of the same thing share its tag, so one notification shows however many are open.
export async function tell(entries, sounds) {
  if (await isLookedAt()) return;
  for (const { id, title, text, url } of entries) {
    const shown = new Notification(title, { body: text, tag: id });
    shown.onclick = () => {
      window.focus();
      if (url !== location.pathname) window.htmx.location.href = url;
      shown.close();
    };
  }
  if (sounds) navigator.locks?.request(`sound ${entries[0].id}`, { ifAvailable: true }, (lock) => lock && sound());
}

export function sound() {
  const context = new AudioContext();
  const volume = new GainNode(context, { gain: 0.08 });
  volume.connect(context.destination);
  NOTES.forEach((frequency, number) => {
    const note = new OscillatorNode(context, { frequency });
    note.connect(volume);
    note.start(context.currentTime + number * 0.14);
    note.stop(context.currentTime + number * 0.14 + 0.12);
  });
  return new Promise((done) => setTimeout(() => context.close().then(done), 600));
}
