// Pictures that come as one image (a sprite), cell by cell, row by row from the top.

/**
 * The CSS background position that shows one cell.
 * @param {number} cell
 * @param {number} columns
 * @param {number} rows
 */
export function spritePosition(cell, columns, rows) {
  const [x, y] = [cell % columns, Math.floor(cell / columns)];
  return `${columns > 1 ? (100 * x) / (columns - 1) : 0}% ${rows > 1 ? (100 * y) / (rows - 1) : 0}%`;
}

/**
 * Show one cell as an element's background.
 * @param {HTMLElement} el
 * @param {string} sprite  address of the image
 * @param {number} cell
 * @param {number} columns
 * @param {number} rows
 */
export function showSpriteCell(el, sprite, cell, columns, rows) {
  el.style.backgroundImage = `url(${sprite})`;
  el.style.backgroundSize = `${columns * 100}% ${rows * 100}%`;
  el.style.backgroundPosition = spritePosition(cell, columns, rows);
}
