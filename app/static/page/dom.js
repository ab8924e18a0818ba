// Small helpers to build page elements and to write to them only what has changed.

/**
 * A new element at the end of `parent`.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} className
 * @param {ParentNode} parent
 * @param {string} [text]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function addElement(tag, className, parent, text) {
  const el = document.createElement(tag);
  if (className) el.className = className;
  if (text !== undefined) el.textContent = text;
  parent.appendChild(el);
  return el;
}

/**
 * A button at the end of `parent`; `help` is its tooltip.
 * @param {ParentNode} parent
 * @param {string} text
 * @param {string} help
 * @param {() => void} onClick
 * @returns {HTMLButtonElement}
 */
export function addButton(parent, text, help, onClick) {
  const button = addElement("button", "", parent, text);
  button.type = "button";
  button.title = help;
  button.onclick = onClick;
  return button;
}

/**
 * The one element under `root` that a selector finds.
 * @template {Element} Type
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => Type} type
 * @returns {Type}
 */
export function find(root, selector, type) {
  const found = root.querySelector(selector);
  if (!(found instanceof type)) throw new Error(`there is no ${type.name} at ${selector}`);
  return found;
}

/**
 * The element that has the focus, where it is in the same shadow root as `el`.
 * @param {Element} el
 */
export function focusedBeside(el) {
  const root = el.getRootNode();
  return root instanceof Document || root instanceof ShadowRoot ? root.activeElement : null;
}

const PROPERTIES = new Set(["hidden", "disabled", "title", "tabIndex"]);

/** @type {WeakMap<Element, Map<string, string | number | boolean>>} what was last written to each element */
const written = new WeakMap();

/**
 * Write a text ("text"), a class ("class"), a property or an attribute, but only when it has changed: a write that
 * changes nothing still costs the browser a style and a layout, and a screen reader may read it out again.
 * @param {Element} el
 * @param {string} name
 * @param {string | number | boolean} value
 */
export function setIfChanged(el, name, value) {
  let values = written.get(el);
  if (!values) written.set(el, (values = new Map()));
  if (values.get(name) === value) return;
  values.set(name, value);
  if (name === "text") el.textContent = String(value);
  else if (name === "class") el.className = String(value);
  else if (PROPERTIES.has(name)) Object.assign(el, { [name]: value });
  else el.setAttribute(name, String(value));
}

/**
 * Make `parent` have `count` children: build the missing ones, remove those too many.
 * @param {Element} parent
 * @param {number} count
 * @param {() => void} build  adds one child to `parent`
 */
export function keepChildren(parent, count, build) {
  while (parent.children.length > count) parent.lastElementChild?.remove();
  while (parent.children.length < count) build();
}
