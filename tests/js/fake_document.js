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
    /** @type {Record<string, (event: any) => void>} */
    this.listeners = {};
    this.style = { setProperty: () => {} };
    this.className = "";
    this.textContent = "";
    this.title = "";
    this.value = "";
    this.hidden = false;
    /** @type {(() => void) | null} */
    this.onclick = null;
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

  /** Press it. */
  click() {
    this.onclick?.();
  }

  /** The focus comes here. */
  focus() {
    focused = this;
  }

  /** The parent. */
  get parentElement() {
    return this.parent;
  }

  /** A menu's entry. */
  add() {}

  /**
   * Kept, for tests to call.
   * @param {string} name
   * @param {(event: any) => void} listener
   */
  addEventListener(name, listener) {
    this.listeners[name] = listener;
  }

  /** At the left edge of the window. */
  getBoundingClientRect() {
    return { left: 0 };
  }

  /**
   * The root of this element, which knows the focus.
   * @returns {FakeRoot}
   */
  getRootNode() {
    return this.parent ? this.parent.getRootNode() : new FakeRoot(this);
  }

  /**
   * @param {FakeElement} other
   * @returns {boolean}
   */
  contains(other) {
    return other === this || this.children.some((child) => child.contains(other));
  }
}

/** @type {FakeElement | null} */
let focused = null;

/** What a tree of elements hangs in: a document or a shadow root. */
class FakeRoot {
  /** @param {FakeElement} top */
  constructor(top) {
    this.top = top;
  }

  /** The element of this tree that has the focus; one that was removed has lost it. */
  get activeElement() {
    return focused && this.top.contains(focused) ? focused : null;
  }
}

/**
 * Make the global `document`; returns an element to build in.
 * @param {string[]} parts  classes of the elements that are in it at first
 */
export function fakeDocument(...parts) {
  focused = null;
  const document = { createElement: (/** @type {string} */ tag) => new FakeElement(tag), hidden: false };
  const elements = { HTMLElement: FakeElement, HTMLButtonElement: FakeElement, HTMLInputElement: FakeElement };
  Object.assign(globalThis, { document, ...elements, Document: FakeRoot, ShadowRoot: FakeRoot, Option: class {} });
  const box = new FakeElement("div");
  for (const name of parts) box.appendChild(new FakeElement("div")).className = name;
  return /** @type {any} */ (box);
}
