// Scroll to what a pick brings (pictures below the figures) once it has come, and keep it in sight while it grows.

const TRIES = 150;
const TRY_MS = 100;
const LONGEST_MS = 20000;

/** @type {ResizeObserver | null} of the last one that is kept in sight */
let growing = null;

/**
 * Scroll to Streamlit's container with a key, as soon as there is one.
 * @param {string} key
 * @param {() => boolean} isWanted  asked before every try
 * @param {number} [tries]
 */
export function scrollToContainer(key, isWanted, tries = TRIES) {
  const found = document.querySelector(`.st-key-${key}`);
  if (found) keepInSight(found);
  else if (tries && isWanted()) setTimeout(() => scrollToContainer(key, isWanted, tries - 1), TRY_MS);
}

/**
 * Keep an element in sight while it grows, until the visitor scrolls, clicks or presses a key.
 * @param {Element} el
 */
function keepInSight(el) {
  growing?.disconnect();
  const observer = (growing = new ResizeObserver(() => el.scrollIntoView({ block: "center" })));
  observer.observe(el);
  const stop = () => observer.disconnect();
  for (const event of ["wheel", "pointerdown", "keydown"])
    document.addEventListener(event, stop, { once: true, passive: true });
  setTimeout(stop, LONGEST_MS);
}
