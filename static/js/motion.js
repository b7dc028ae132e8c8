// Motion of what comes into a page that stands there already, and of what goes; how it moves is said in motion.css.

const ended = (element) => Promise.allSettled(element.getAnimations().map(({ finished }) => finished));

export function arrive(element) {
  element.dataset.fresh = "";
  ended(element).then(() => delete element.dataset.fresh);
}

export function leave(element) {
  element.dataset.leaves = "";
  ended(element).then(() => element.remove());
}
