// A finger that goes to the side, where nothing scrolls that way.
const FAR = 70; // pixels
const QUICK = 600; // milliseconds
const APART = "input, textarea, select, dialog, [popover], .xterm, .cm-editor, [draggable=true]";

function scrolls(element) {
  for (; element && element !== document.body; element = element.parentElement) {
    if (element.scrollWidth > element.clientWidth && /auto|scroll/.test(getComputedStyle(element).overflowX)) return true;
  }
  return false;
}

// `swiped` is told whether it went to the right.
export function begin(swiped) {
  let from = null;
  document.addEventListener("touchstart", ({ touches, target, timeStamp }) => {
    const alone = touches.length === 1 && !target.closest?.(APART) && !scrolls(target);
    from = alone ? { x: touches[0].clientX, y: touches[0].clientY, at: timeStamp } : null;
  }, { passive: true });
  document.addEventListener("touchend", ({ changedTouches: [finger], timeStamp }) => {
    if (!from) return;
    const [across, down, took] = [finger.clientX - from.x, finger.clientY - from.y, timeStamp - from.at];
    from = null;
    if (took > QUICK || Math.abs(across) < FAR || Math.abs(across) < 2 * Math.abs(down) || String(getSelection())) return;
    swiped(across > 0);
  }, { passive: true });
}
