// A document for tests without a browser: elements with children, attributes and handlers, and nothing drawn.

/** An element. */
class FakeElement {
  /** @param {string} tag */
  constructor(tag) {
    this.tagName = tag.toUpperCase();
    /** @type {FakeElement | null} */
    this.parent = null;
    /** @type {FakeElement[]} */
    this.children = [];
    /** @type {Map<string, string>} */
    this.attributes = new Map();
    /** @type {Record<string, string>} */
    this.dataset = {};
    this.style = { setProperty: () => {} };
    this.className = "";
    this.textContent = "";
    this.title = "";
    this.value = "";
    this.hidden = false;
    this.classList = { toggle: () => {}, add: () => {}, remove: () => {} };
  }

  /** @param {FakeElement} child */
  appendChild(child) {
    child.remove();
    child.parent = this;
    this.children.push(child);
    return child;
  }

  /** Out of its parent. */
  remove() {
    const siblings = this.parent?.children;
    siblings?.splice(siblings.indexOf(this), 1);
    this.parent = null;
  }

  /** @param {FakeElement[]} children */
  replaceChildren(...children) {
    for (const child of [...this.children]) child.remove();
    for (const child of children) this.appendChild(child);
  }

  /**
   * The first child.
   * @returns {FakeElement | null}
   */
  get firstElementChild() {
    return this.children[0] ?? null;
  }

  /**
   * The last child.
   * @returns {FakeElement | null}
   */
  get lastElementChild() {
    return this.children.at(-1) ?? null;
  }

  /**
   * @param {string} name
   * @param {string} value
   */
  setAttribute(name, value) {
    this.attributes.set(name, String(value));
  }

  /** @param {string} name */
  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }

  /**
   * Below this element: all of a class (".play"), or of a tag ("button").
   * @param {string} selector
   * @returns {FakeElement[]}
   */
  querySelectorAll(selector) {
    const fits = (/** @type {FakeElement} */ el) =>
      selector.startsWith(".")
        ? el.className.split(" ").includes(selector.slice(1))
        : el.tagName === selector.toUpperCase();
    return this.children.flatMap((child) => [...(fits(child) ? [child] : []), ...child.querySelectorAll(selector)]);
  }

  /** @param {string} selector */
  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }

  /** The focus comes here. */
  focus() {
    focused = this;
  }

  /** A menu's entry. */
  add() {}

  /** Nothing listens. */
  addEventListener() {}

  /** Our components ask which element has the focus. */
  getRootNode() {
    return { activeElement: focused };
  }
}

/** @type {FakeElement | null} */
let focused = null;

/** The element that has the focus. */
export const focusedElement = () => /** @type {any} */ (focused);

/**
 * Make the global `document`; returns an element to build in.
 * @param {string[]} parts  classes of the elements that are in it at first
 */
export function fakeDocument(...parts) {
  focused = null;
  const document = { createElement: (/** @type {string} */ tag) => new FakeElement(tag), hidden: false };
  const others = { HTMLElement: FakeElement, HTMLButtonElement: FakeElement, Option: class {} };
  Object.assign(globalThis, { document, ...others });
  const box = new FakeElement("div");
  for (const name of parts) box.appendChild(new FakeElement("div")).className = name;
  return /** @type {any} */ (box);
}
