// Escape counts before what was asked for is there, too.

// Gives what `coming` brings; nothing where Escape was pressed meanwhile.
export async function unlessLeft(coming) {
  let isLeft = false;
  const leave = ({ key }) => (isLeft ||= key === "Escape");
  document.addEventListener("keydown", leave);
  const found = await coming.finally(() => document.removeEventListener("keydown", leave));
  return isLeft ? null : found;
}
